"""Expected values that come with inputs: they have a hole in the scenario, or it is refused."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.testsuite.scenarios import ScenarioFile, build_scenarios

_CODE = "class P:\n    a = 0\n\n\ndef f(x):\n    return x\n"
_HEAD = """
import dataclasses
import types
import pytest
from m import P, f
"""
_ROWS = "[(1, 'WANT'), (2, 'WANT')]"


def plan(tests: str) -> ScenarioFile:
    return build_scenarios(_HEAD + textwrap.dedent(tests), "m", _CODE, {})


def in_test(body: str) -> str:
    return "def test_it():\n" + textwrap.indent(textwrap.dedent(body), "    ")


REFUSED = {
    "a line that is split": """
        @pytest.mark.parametrize("line", ["1 WANT", "2 WANT"])
        def test_it(line):
            n, want = line.split()
            assert f(int(n)) == want
        """,
    "a table of lines": """
        TABLE = "1 -> WANT\\n2 -> WANT"
        def test_it():
            for line in TABLE.splitlines():
                n, _, want = line.partition(" -> ")
                assert f(int(n)) == want
        """,
    "each word by itself": """
        @pytest.mark.parametrize("line", ["1 WANT", "2 WANT"])
        def test_it(line):
            assert f(int(line.split()[0])) == line.split()[1]
        """,
    "parts of a text": """
        @pytest.mark.parametrize("line", ["1 WANT", "2 WANT"])
        def test_it(line):
            n = int(line[:1])
            assert f(n) == line[2:]
        """,
    "all but the last": f"""
        @pytest.mark.parametrize("case", {_ROWS})
        def test_it(case):
            *given, want = case
            assert f(*given) == want
        """,
    "a key that is looked up": """
        NUMBERS = {"WANT": 1, "WANT2": 2}
        @pytest.mark.parametrize("want", NUMBERS)
        def test_it(want):
            assert f(NUMBERS[want]) == want
        """,
    "defaults of a record": """
        @dataclasses.dataclass
        class Case:
            n: int = 1
            want: str = "WANT"
        def test_it():
            case = Case()
            assert f(case.n) == case.want
        """,
    "how many there are": in_test("""
        wants = ["WANT", "WANT"]
        assert [f(n) for n in range(len(wants))] == wants
        """),
    "rows by their number": in_test(f"""
        rows = {_ROWS}
        for at in range(2):
            assert f(rows[at][0]) == rows[at][1]
        """),
    "columns": in_test(f"""
        given, wants = zip(*{_ROWS})
        assert tuple(f(n) for n in given) == wants
        """),
    "what a function returns": in_test("""
        case = lambda: (1, "WANT")
        assert f(case()[0]) == case()[1]
        """),
    "a constant beside a call": in_test("""
        got, want = f(1), "WANT"
        assert got == want
        """),
    "pairs of answers and constants": in_test("""
        for got, want in [(f(1), "WANT"), (f(2), "WANT")]:
            assert got == want
        """),
    "a list that an answer is added to": in_test("""
        got = [f(1)] + ["WANT"]
        assert got[0] == got[1]
        """),
    "a copy with one answer": in_test("""
        want = {"n": "WANT", "m": 2}
        got = dict(want)
        got["n"] = f(1)
        assert got == want
        """),
    "what is taken out of a dictionary": in_test("""
        case = {"x": 1, "want": "WANT"}
        want = case.pop("want")
        assert f(**case) == want
        """),
}
WITH_HOLES = {
    "a pair of a fixture": """
        @pytest.fixture
        def case():
            return 1, "WANT"
        def test_it(case):
            n, want = case
            assert f(n) == want
        """,
    "parameters of a fixture": f"""
        @pytest.fixture(params={_ROWS})
        def case(request):
            return request.param
        def test_it(case):
            assert f(case[0]) == case[1]
        """,
    "a row by another name": f"""
        @pytest.mark.parametrize("case", {_ROWS})
        def test_it(case):
            row = case
            n, want = row
            assert f(n) == want
        """,
    "both at once": in_test("""
        n, want = 1, "WANT"
        assert f(n) == want
        """),
}
GIVEN = {
    "a text and what is made of it": 'x = "GIVEN"\nassert f(x) == x.upper()',
    "what is made of a text": 'x = "GIVEN"\ny = x * 2\nassert f(y) == x + x',
    "a list that is sorted": 'x = ["GIVEN", "b"]\nassert f(x) == sorted(x)',
    "a list that the code may change": 'x = ["GIVEN"]\nf(x)\nassert x == []',
    "each of a list": 'x = ["GIVEN", "b"]\nassert [f(i) for i in x] == [i * 2 for i in x]',
    "by number": 'x = ["GIVEN", "b"]\nfor i in range(2):\n    assert f(x[i]) == x[i] * 2',
    "all by number": 'x = ["GIVEN", "b"]\nf(x[0])\nf(x[1])\nassert f(2) == x',
    "all of an unpacked row": 'a, b = "GIVEN 2".split()\nassert f([a, b]) == a + b',
    "how often": "assert [f(2) for _ in range(3)] == [1, 2, 3]  # GIVEN",
    "a part of an answer": 'x = "GIVEN"\nassert f(x)[0].name == x[0]',
    "an operand of an object": 'p = P()\np["GIVEN", 1] = 2\nassert p.a == 2',
}


@pytest.mark.parametrize("tests", REFUSED.values(), ids=REFUSED)
def test_a_part_that_is_expected_never_crosses_with_the_rest(tests: str) -> None:
    found = plan(tests)
    assert "WANT" not in found.scenario
    assert [item.test for item in found.not_observable] == ["test_it"]


@pytest.mark.parametrize("tests", WITH_HOLES.values(), ids=WITH_HOLES)
def test_known_parts_that_are_expected_stay_behind(tests: str) -> None:
    found = plan(tests)
    assert not found.not_observable
    assert "WANT" not in found.scenario
    assert "WANT" in found.judge


@pytest.mark.parametrize("body", GIVEN.values(), ids=GIVEN)
def test_what_the_code_is_given_whole_may_be_expected_too(body: str) -> None:
    found = plan(in_test(body))
    assert not found.not_observable
    assert "GIVEN" in found.scenario or "GIVEN" not in body.partition("#")[0]
