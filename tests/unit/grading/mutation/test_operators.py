"""Every operator on a piece of source: the mutants as text, line by line.

`UPDATE_GOLDEN=1` updates the file; read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from greenloop.grading.mutation import generate_mutants
from greenloop.syntax.operators import OPERATORS
from tests.support.programs import read_program

GOLDEN = Path(__file__).parent / "golden.txt"
PIECES = {
    "arithmetic": "def f(a, b):\n    return a ** (b + 1) // 2 % a",
    "no arithmetic on texts": "def f(a):\n    return 'a' + a, '%s' % a, [0] * a, f'{a}' + a",
    "augmented": "def f(a):\n    total = a.x\n    total += a\n    a <<= 1\n    return total",
    "comparison": "def f(a, b):\n    return a < b <= 9, a == b, a is not b, a not in b",
    "boolean": "def f(a, b, c):\n    return a and b or not c",
    "unary": "def f(a):\n    return -a, ~a, +a",
    "constants": "A = 1.5\nB = [0, -3, True, None, 'x', b'y', 2j]\nC = ('a' 'b')",
    "f-string": "def f(a):\n    return f'{a + 1:>{a}} of' + rf\"{a!r}\"",
    "condition": (
        "def f(a):\n    if a and a.b: return 1\n    while not a: a = a.c\n"
        "    assert a, 'no'\n    return [x for x in a if x.ok] if a.d else a"
    ),
    "loops": "def f(a):\n    for x in a:\n        if x: break\n        continue\n    while a: a()",
    "results": "def f(a):\n    yield a\n    g = lambda x: x\n    return None\ndef h(): return True",
    "exceptions": (
        "def f(a):\n    try:\n        a()\n    except (KeyError, ValueError) as e:\n"
        "        raise TypeError('t') from e\n    except OSError:\n        raise\n"
        "    except:\n        pass"
    ),
    "calls": (
        "def f(a, k):\n    del a[0]\n    k(a, *a, key=a, n=2)\n"
        "    return min(a.strip(), sorted(k, reverse=True))"
    ),
    "last keyword": "def f(a):\n    return a(\n        1,\n        b=2,\n    ), a(b=2), a(1, b=2,)",
    "slices": "def f(a):\n    return a[1:], a[:-1], a[::2], a[(a.x):a.y, 0]",
    "defaults": "def f(a=None, *, b=3, c=[], d=-1) -> int: ...",
    "decorators": (
        "import x\nclass A:\n    @property\n    def f(self): return self.y\n"
        "    @x.dec(1)\n    async def g(self): await self.h()"
    ),
    "match": "def f(a):\n    match a:\n        case 1 if a.x: return a\n        case {'k': v}: return v",
    "spread over lines": "def f(a, b):\n    return (\n        a  # the first\n        + b\n    )",
    "letters of several bytes": "def f(é, ß):\n    return 'ü', é < ß",
}
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


def test_every_operator_has_mutants_and_a_question() -> None:
    seen = [item for code in PIECES.values() for item in generate_mutants(code)]
    assert {item.operator for item in seen} == {item.name for item in OPERATORS}
    for item in seen:
        assert "?" in item.question, item
        assert not re.search("{(where|old|new|line|left|right|compare)}", item.question), item


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
    assert found.question == "What does Top.k do when n equals 0? (boundary of `n < 0`)"
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
