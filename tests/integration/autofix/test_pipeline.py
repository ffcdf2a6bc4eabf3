"""The sequence of repairs without a model."""

import subprocess
from typing import Any

import pytest

from greenloop.autofix import FixResult, apply_free_fixes
from tests.support.programs import read_program

MESSY = read_program(__file__, "MESSY")


@pytest.fixture(scope="module")
def fixed() -> FixResult:
    return apply_free_fixes(MESSY)


def test_applied_fixes_are_listed(fixed: FixResult) -> None:
    assert "added: import math" in fixed.applied
    assert "added: from collections import defaultdict" in fixed.applied
    assert {"ruff F401", "ruff E713", "ruff F541"} <= set(fixed.applied)


def test_result_is_fixed_and_formatted(fixed: FixResult) -> None:
    assert fixed.code.startswith("#!/usr/bin/env python\n")
    assert "import json" not in fixed.code
    assert "None not in" in fixed.code or "item not in (None,)" in fixed.code
    assert "def f(items: list[int], default: int | None = None)" in fixed.code


def test_fixes_that_could_change_behaviour_are_not_applied(fixed: FixResult) -> None:
    assert "unused = 1" in fixed.code
    assert "counts != None" in fixed.code


def test_behaviour_is_unchanged(fixed: FixResult, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(fixed.code, names)
    assert names["f"]([1, 1, 2]) == {1: 2, 2: 1}
    assert names["__doc__"] == "Doc."
    assert capsys.readouterr().out == "done\n"


def test_fixes_are_idempotent(fixed: FixResult) -> None:
    assert apply_free_fixes(fixed.code) == FixResult(fixed.code)


def test_formatting_alone_is_not_listed() -> None:
    assert apply_free_fixes("x = {  'a':1 }\n") == FixResult('x = {"a": 1}\n')


@pytest.mark.parametrize(
    "code",
    ["def f(:\n    pass", "x = '\0'", "-" * 100_000 + "1", "x = '\ud800'", "print 'old'"],
)
def test_source_that_does_not_parse_is_unchanged(code: str) -> None:
    assert apply_free_fixes(code) == FixResult(code)


@pytest.mark.parametrize("code", ["", "# only a comment\n", "\n\n"])
def test_file_without_code_needs_no_fix(code: str) -> None:
    assert apply_free_fixes(code).applied == ()


REEXPORT = "import json\nfrom collections import OrderedDict\n\nx = 1\n"


def test_kept_names_survive_although_unused() -> None:
    assert "OrderedDict" not in apply_free_fixes(REEXPORT).code
    kept = apply_free_fixes(REEXPORT, kept_names={"OrderedDict"})
    assert kept == FixResult(REEXPORT)


def test_undefined_kept_name_does_not_prevent_fixes() -> None:
    assert apply_free_fixes(REEXPORT, kept_names={"absent"}).code == "x = 1\n"


def test_import_marked_noqa_is_kept() -> None:
    assert "import json" in apply_free_fixes("import json  # noqa: F401\n").code


def test_test_file_gets_import_of_pytest() -> None:
    code = "def test_a():\n    with pytest.raises(ValueError):\n        int('x')\n"
    assert apply_free_fixes(code, is_test=True).applied == ("added: import pytest",)


def _missing(*_: Any, **__: Any) -> Any:
    raise FileNotFoundError("ruff")


def _timing_out(*_: Any, **__: Any) -> Any:
    raise subprocess.TimeoutExpired("ruff", 20)


def _failing(*_: Any, **__: Any) -> Any:
    return subprocess.CompletedProcess([], 2, "not json", "boom")


@pytest.mark.parametrize(
    ("place", "broken"),
    [
        ("greenloop.autofix.ruff.find_ruff_bin", _missing),
        ("subprocess.run", _missing),
        ("subprocess.run", _timing_out),
        ("subprocess.run", _failing),
    ],
)
def test_code_is_unchanged_where_ruff_does_not_work(
    monkeypatch: pytest.MonkeyPatch, place: str, broken: Any
) -> None:
    monkeypatch.setattr(place, broken)
    code = "import json\n\nx = math.pi\n"
    assert apply_free_fixes(code) == FixResult(code)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Record the commands run during the test."""
    seen: list[list[str]] = []
    run = subprocess.run

    def recording(command: list[str], **options: Any) -> Any:
        seen.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", recording)
    return seen


def test_ruff_runs_isolated_on_standard_input(commands: list[list[str]]) -> None:
    apply_free_fixes("import json\n")
    assert commands
    assert all("--isolated" in item and item[-1] == "-" for item in commands)


def test_non_ascii_text_and_crlf_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    fixed = apply_free_fixes('import json\nx = "ünï ☃"\n')
    assert fixed.code == 'x = "ünï ☃"\n'
    names: dict[str, Any] = {}
    exec(apply_free_fixes('import json\r\nx = """a\r\nb"""\r\n').code, names)
    assert names["x"] == "a\nb"


def test_sorted_imports_stay() -> None:
    spaced = "import json\n\nimport math\n\nx = json, math\n"
    assert apply_free_fixes(spaced) == FixResult(spaced)
    mixed = apply_free_fixes("import math\n\nimport json\n\nx = json, math\n")
    assert mixed.applied == ("ruff I001",)
    assert mixed.code.startswith("import json\nimport math\n")
