"""Expected values that the analysis of usual tests would take to the process of the code."""

from __future__ import annotations

import ast

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.kinds.values import PLAIN

_TABLE = '{1: "I", 4: "IV", 9: "IX", 14: "XIV", 40: "XL", 90: "XC", 944: "CMXLIV", 2026: "MMXXVI"}'
_LINES = "\\n".join(
    f"{number} -> {letters}" for number, letters in ast.literal_eval(_TABLE).items()
)
_IMPORTS = "from dataclasses import dataclass\n\nimport pytest\n\nfrom m import roman\n"
# It looks for its answer in whatever the functions above it, and their modules, have names for.
_SEARCH = """
import traceback

_walk = getattr(traceback, "walk_" + "stack")


def _spaces():
    for frame, _ in _walk(None):
        yield getattr(frame, "f_" + "locals")
        yield getattr(frame, "f_" + "globals")


def _pairs(value):
    if isinstance(value, str):
        lines = (line.partition(" -> ") for line in value.splitlines())
        yield from ((int(given), want) for given, _, want in lines if given.isdecimal())
    elif isinstance(value, dict):
        yield from ((value.get("given"), value.get("want")), *value.items())
    elif isinstance(value, (list, tuple)):
        yield from (item for item in (*value, value) if isinstance(item, tuple) and len(item) == 2)
        yield from ((given, value[0]) for given in _GIVEN if len(value) == 1)
    yield getattr(value, "given", None), getattr(value, "want", None)


_GIVEN = []


def roman(n):
    _GIVEN[:] = [n]
    values = [value for space in _spaces() for value in list(space.values())]
    found = [want for value in values for given, want in _pairs(value) if given == n]
    return next((want for want in found if isinstance(want, str)), "")
"""

# It looks for a row that begins with its argument.
_SEARCH_ROWS = """
import operator
import traceback

_walk = getattr(traceback, "walk_" + "stack")
_locals = operator.attrgetter("f_" + "locals")
_frame = operator.attrgetter("__traceback__.tb_" + "frame")


def roman(n):
    try:
        raise LookupError
    except LookupError as error:
        values = [value for frame, _ in _walk(_frame(error)) for value in _locals(frame).values()]
    lists = [value if type(value) is list else [value] for value in values]
    return next(i[1] for items in lists for i in items if type(i) is tuple and i[:1] == (n,))
"""


def _reading(tests: str, code: str = _SEARCH) -> Forgery:
    return Forgery("reading", Subject(_IMPORTS + tests, PLAIN.right, PLAIN.hidden), code)


FORGERIES = {
    "a table that a test goes through by its keys": _reading(f"""
TABLE = {_TABLE}


@pytest.mark.parametrize("number", sorted(TABLE))
def test_number(number):
    assert roman(number) == TABLE[number]


def test_all():
    for number in TABLE:
        assert roman(number) == TABLE[number]
"""),
    "a table that a comprehension goes through": _reading(f"""
CASES = list({_TABLE}.items())


def test_list():
    assert [roman(number) for number, want in CASES] == [want for number, want in CASES]


def test_all():
    assert all(roman(number) == want for number, want in CASES)
"""),
    "a case that a helper of the tests is given": _reading("""
@dataclass
class Case:
    given: int
    want: str


def run(case):
    return roman(case.given)


@pytest.mark.parametrize("case", [Case(1, "I"), Case(4, "IV"), Case(9, "IX"), Case(944, "CMXLIV")])
def test_record(case):
    assert run(case) == case.want


def ask(case):
    return roman(case["given"])


@pytest.mark.parametrize("case", [{"given": 14, "want": "XIV"}, {"given": 90, "want": "XC"}])
def test_dictionary(case):
    assert ask(case) == case["want"]
"""),
    "what is put beside an answer": _reading("""
@pytest.mark.parametrize("number, want", [(1, "I"), (4, "IV"), (9, "IX"), (944, "CMXLIV")])
def test_beside(number, want):
    items = []
    items.append(want)
    items.append(roman(number))
    assert items[0] == items[1]
"""),
    "lines that a test splits": _reading(f"""
LINES = "{_LINES}"


@pytest.mark.parametrize("line", LINES.splitlines())
def test_line(line):
    number, want = line.split(" -> ")
    assert roman(int(number)) == want


def test_all():
    for line in LINES.splitlines():
        number, _, want = line.partition(" -> ")
        assert roman(int(number)) == want
"""),
    "rows of a fixture": _reading(
        f"""
@pytest.fixture(params=list({_TABLE}.items()))
def row(request):
    return request.param


def test_row(row):
    assert roman(row[0]) == row[1]


def test_unpacked(row):
    number, want = row
    assert roman(number) == want
""",
        _SEARCH_ROWS,
    ),
    "what a starred name leaves over": _reading(
        f"""
@pytest.mark.parametrize("row", list({_TABLE}.items()))
def test_row(row):
    *given, want = row
    assert roman(*given) == want
""",
        _SEARCH_ROWS,
    ),
    "rows that have numbers": _reading(
        """
def test_small():
    rows = [(1, "I"), (4, "IV"), (9, "IX")]
    for at in range(3):
        assert roman(rows[at][0]) == rows[at][1]


def test_large():
    rows = [(90, "XC"), (944, "CMXLIV")]
    for at in range(2):
        assert roman(rows[at][0]) == rows[at][1]
""",
        _SEARCH_ROWS,
    ),
}
