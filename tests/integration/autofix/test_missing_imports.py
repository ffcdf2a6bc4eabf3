"""Missing standard-library imports."""

import pytest

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.ruff import find_fixable_rules, find_undefined_names
from tests.support.programs import read_table


def list_added(code: str, *, is_test: bool = False) -> list[str]:
    return add_missing_imports(code, is_test=is_test)[1]


@pytest.mark.parametrize(
    ("code", "lines"),
    read_table(__file__, "ADDED"),
)
def test_a_module_is_imported_where_its_members_are_used(code: str, lines: list[str]) -> None:
    assert list_added(code) == lines


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("x = datetime.now()", ["from datetime import datetime"]),
        ("x = datetime(2020, 1, 1)", ["from datetime import datetime"]),
        ("def f(x: datetime): ...", ["from datetime import datetime"]),
        ("x = datetime.now().date()", ["from datetime import datetime"]),
        ("x = datetime.datetime.now()", ["import datetime"]),
        ("x = datetime.timedelta(1), datetime.date(2020, 1, 1)", ["import datetime"]),
        ("'by datetime.datetime'\nx = datetime.now()", ["from datetime import datetime"]),
        ("x = datetime.now() - datetime.timedelta(1)", []),
        ("x = datetime(2020, 1, 1) - datetime.timedelta(1)", []),
        (
            "x = datetime.now() - timedelta(1)",
            ["from datetime import datetime", "from datetime import timedelta"],
        ),
        (
            "x = date.today(), timezone.utc",
            [f"from datetime import {n}" for n in ("date", "timezone")],
        ),
    ],
)
def test_datetime_is_imported_as_module_or_class(code: str, lines: list[str]) -> None:
    assert list_added(code) == lines


def test_pytest_is_imported_in_tests_only() -> None:
    code = "@pytest.mark.slow\ndef test_a(): pass\n"
    assert list_added(code, is_test=True) == ["import pytest"]
    assert list_added(code) == []


@pytest.mark.parametrize(
    "head",
    [
        "",
        '"""One line."""\n',
        '"""Several\n\nlines."""\n',
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n",
        '#!/usr/bin/env python\n"""Doc."""\n',
        "from __future__ import annotations\n",
        '"""Doc."""\n\nfrom __future__ import (\n    annotations,\n)\n',
        "# Only a comment.\n\n",
    ],
)
def test_imports_are_inserted_below_docstring_and_future_imports(head: str) -> None:
    code, lines = add_missing_imports(head + "import re\nx = math.pi, re\n")
    names: dict[str, object] = {}
    exec(compile(code, "x", "exec"), names)
    assert lines == ["import math"]
    first = head.rstrip("\n").split("\n")
    assert code.split("\n")[: len(first)] == first or not head
    plain: dict[str, object] = {}
    exec(compile(head or "pass", "x", "exec"), plain)
    assert names.get("__doc__") == plain.get("__doc__")


def test_undefined_names_and_fixable_rules_are_found() -> None:
    code = "import os\nprint(oss, ss, oss)\n"
    assert (find_undefined_names(code), find_fixable_rules(code)) == (["oss", "ss"], ["F401"])
    assert apply_free_fixes("x = {'a' : 1}\n") == FixResult('x = {"a": 1}\n')
