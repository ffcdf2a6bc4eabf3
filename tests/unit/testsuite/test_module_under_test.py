"""The module that a test file tests."""

from pathlib import Path

import pytest

from greenloop.testsuite import module_under_test
from tests.support.programs import read_table


def module_of(source: str) -> str:
    return module_under_test.find_tested_module(source, ["gamma"])


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from roman import to_roman", "roman"),
        ("import json, pytest\nimport roman as r", "roman"),
        ("import pytest\nfrom shop.cart import Cart", "shop"),
        ("import os.path\nimport greatest.common", "greatest"),
        ("from . import x\nfrom .y import z", "solution"),
        ("def test_a():\n    from late import f\n    assert f()", "late"),
        ("import pytest", "solution"),
        ("from roman import to_roman\nimport gamma.delta as d", "roman"),
        ("def broken(", "solution"),
        ("x = '\0'", "solution"),
        ("-" * 100_000 + "1", "solution"),
        ("", "solution"),
    ],
)
def test_tested_module_is_an_import_that_is_not_installed(source: str, module: str) -> None:
    assert module_of(source) == module


def test_a_module_in_the_current_folder_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_code.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert module_of("from my_own_code import f") == "my_own_code"


@pytest.mark.parametrize(("source", "full"), read_table(__file__, "RELATIVE"))
def test_relative_imports_get_full_names(source: str, full: str) -> None:
    files = {"lib/shop/__init__.py", "lib/shop/tests/__init__.py", "lib/shop/tests/test_core.py"}
    found = module_under_test.name_imports_fully(source, "lib/shop/tests/test_core.py", files)
    assert found == full
