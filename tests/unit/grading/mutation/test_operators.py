"""Every operator on a piece of source: the mutants as text, line by line.

`UPDATE_GOLDEN=1` updates the file; read the difference.
"""

import os
from pathlib import Path

import pytest

from greenloop.grading.mutation import generate_mutants
from greenloop.syntax.operators import OPERATORS
from tests.support.programs import read_program, read_table

GOLDEN = Path(__file__).parent / "golden.txt"
PIECES = read_table(__file__, "PIECES")
UNOBSERVABLE = read_program(__file__, "UNOBSERVABLE")


def render(code: str) -> list[str]:
    return [
        f"{item.operator}: {' / '.join(line.strip() for line in item.after.splitlines())}"
        for item in generate_mutants(code)
    ]


def as_text() -> str:
    blocks = (
        f"## {name}\n{code}\n--\n" + "".join(f"{line.rstrip()}\n" for line in render(code))
        for name, code in PIECES.items()
    )
    return "\n".join(blocks)


def test_mutants_equal_the_golden_file() -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(as_text(), "utf-8")
    assert as_text() == GOLDEN.read_text("utf-8")


def test_every_operator_has_mutants() -> None:
    seen = [item for code in PIECES.values() for item in generate_mutants(code)]
    assert {item.operator for item in seen} == {item.name for item in OPERATORS}


def test_no_mutants_of_unobservable_code() -> None:
    assert render(UNOBSERVABLE) == []


def test_mutant_has_location_and_change() -> None:
    code = (
        "class Top:\n    def k(self, n):\n        if n < 0:\n            n = -n\n        return n\n"
    )
    found = next(item for item in generate_mutants(code) if item.operator == "boundary")
    assert (found.id, found.line, found.column) == ("3:14 boundary", 3, 14)
    assert (found.function, found.original, found.edit.text) == ("Top.k", "<", "<=")
    assert found.to_unified_diff("top.py", code) == (
        "--- top.py\n+++ top.py\n@@ -1,5 +1,5 @@\n class Top:\n     def k(self, n):\n"
        "-        if n < 0:\n+        if n <= 0:\n             n = -n\n         return n"
    )
    assert found.change == ("n < 0", "n <= 0")
    assert found.edit.apply_to(code) == code.replace("<", "<=")


@pytest.mark.parametrize("code", ["def f(:", "a = 1\0"])
def test_invalid_source_raises(code: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        generate_mutants(code)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_diff_applies_and_has_two_context_lines(end: str, last: str) -> None:
    code = "a = 1\nb = 2\nc = (\n    3 +\n    4\n)\nd = 5\n\ne = 6" + last
    for item in generate_mutants(code.replace("\n", end)):
        lines = item.to_unified_diff("m.py", code.replace("\n", end)).split("\n")
        first = int(lines[2].split(",")[0].removeprefix("@@ -"))
        old = [text[1:] for text in lines[3:] if text[0] in " -"]
        new = [text[1:] for text in lines[3:] if text[0] in " +"]
        assert lines[2] == f"@@ -{first},{len(old)} +{first},{len(new)} @@"
        assert first == max(1, item.line - 2)
        whole = code.rstrip("\n").split("\n")
        assert whole[first - 1 : first - 1 + len(old)] == old
        whole[first - 1 : first - 1 + len(old)] = new
        changed = item.edit.apply_to(code.replace("\n", end)).replace("\r\n", "\n")
        assert "\n".join(whole) == changed.rstrip("\n")
        assert lines[-1][0] == " " or item.line == 9
