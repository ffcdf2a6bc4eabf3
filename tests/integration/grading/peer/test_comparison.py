"""Comparison of two programs: seeded mistakes are found, and two right forms do not differ."""

import ast
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from greenloop.grading.inputs.known_calls import iterate_calls, read_public
from greenloop.grading.peer.comparison import Comparison, PeerProgram, check_peer, compare_programs
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from tests.support.peer_corpus import Case, read_cases
from tests.support.programs import read_program

CASES = read_cases()
# The first mistake of every other program; the others are slow.
MISTAKES = [
    pytest.param(
        case, *changed, id=f"{case.name}-{at}", marks=[pytest.mark.slow] if at or odd else []
    )
    for odd, case in zip(cycle((False, True)), CASES)
    for at, changed in enumerate(case.mistakes)
]
Compare = Callable[..., Comparison]


@pytest.fixture
def compare(warm: Sandbox) -> Compare:
    def run(case: Case, code: str, **changed: str) -> Comparison:
        return compare_programs(
            warm,
            module="m",
            code=code,
            peer=PeerProgram(changed.get("peer", case.other), changed.get("inputs", case.inputs)),
            interface=case.interface,
            specification=case.text,
            tests=[_tests(case)],
            examples=[],
            seed=changed.get("seed", "1"),
            budget_s=20.0,
        )

    return run


def _tests(case: Case) -> TestFile:
    names = ", ".join(read_public(case.interface, case.right))
    return TestFile("test_m.py", f"from m import {names}\n\ndef test_m():\n    {case.tests}\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_two_right_programs_do_not_differ(compare: Compare, case: Case) -> None:
    found = compare(case, case.right)
    assert (found.differences, found.slower) == ((), ())
    assert not found.problem
    assert found.allowed >= 50
    assert found.agreed == found.allowed


@pytest.mark.parametrize(("case", "old", "new"), MISTAKES)
def test_mistakes_are_found(compare: Compare, case: Case, old: str, new: str) -> None:
    assert case.right.count(old) == 1
    found = compare(case, case.right.replace(old, new))
    assert found.differences
    assert len(found.differences) <= 5


def test_all_tests_pass_on_both_forms(warm: Sandbox) -> None:
    for case in CASES:
        assert warm.run_tests(case.right, [_tests(case)], module="m").passed, case.name
        peer = PeerProgram(case.other, case.inputs)
        assert check_peer(warm, module="m", peer=peer, tests=[_tests(case)]) == {}


def test_what_a_slow_peer_did_not_come_to_says_nothing_against_it() -> None:
    peer = "import time\n\ndef same(n):\n    if n > 5:\n        time.sleep(60)\n    return n\n"
    tests = (
        "from m import same\n\ndef test_wrong():\n    assert same(2) == 3\n\n"
        "def test_slow():\n    assert same(9) == 9\n\ndef test_after():\n    assert same(3) == 3\n"
    )
    with open_sandbox(Settings.model_construct(timeout_s=2)) as box:
        failing = check_peer(
            box, module="m", peer=PeerProgram(peer, ""), tests=[TestFile("test_m.py", tests)]
        )
    assert failing == {
        "test_m.py::test_wrong": "AssertionError: assert 2 == 3\n +  where 2 = same(2)"
    }


class TestInputsThatArePointless:
    """What the precondition excludes, or the peer was not made for, is no difference."""

    CODE = "def double(xs):\n    return [2 * x for x in xs]\n"
    INTERFACE = "def double(xs): ...\n"

    def compare(self, warm: Sandbox, peer: str, allowed: str, tests: str) -> Comparison:
        inputs = f"def inputs(rng):\n    yield ([1],)\n\ndef allowed(xs):\n    return {allowed}\n"
        return compare_programs(
            warm,
            module="m",
            code=self.CODE,
            peer=PeerProgram(peer, inputs),
            interface=self.INTERFACE,
            specification="double(xs) doubles each number.",
            tests=[TestFile("test_m.py", tests)],
            examples=[],
            seed="1",
            budget_s=20.0,
        )

    def test_a_type_error_of_the_peer_alone(self, warm: Sandbox) -> None:
        peer = "def double(xs):\n    return [x + x for x in sorted(xs) if x < 10**9]\n"
        tests = "from m import double\n\ndef test_m():\n    assert double(['a', 1]) == ['aa', 2]\n"
        found = self.compare(warm, peer, "xs == sorted(xs, key=str)", tests)
        assert not [item for item in found.differences if "TypeError" in item.peer]


STACK = read_program(__file__, "STACK")
CONFTEST = (
    "import pytest\nfrom m import Stack\n\n@pytest.fixture\ndef stack():\n    return Stack()\n"
)
USES_FIXTURE = """def test_top(stack):
    stack.push(1)
    stack.push(2)
    assert stack.top() == 2
"""


def test_fixtures_of_a_conftest_lead_to_inputs(warm: Sandbox) -> None:
    found = compare_programs(
        warm,
        module="m",
        code=STACK.format(at=-1),
        peer=PeerProgram(STACK.format(at=0), ""),
        interface=STACK.format(at=0),
        specification="",
        tests=[TestFile("conftest.py", CONFTEST), TestFile("test_m.py", USES_FIXTURE)],
        examples=[],
        seed="1",
    )
    assert found.differences, found


def _compare(warm: Sandbox, code: str, peer: str, inputs: str, **given: Any) -> Comparison:
    return compare_programs(
        warm,
        module="m",
        code=code,
        peer=PeerProgram(peer, inputs),
        interface=given.get("interface", code),
        specification=given.get("text", ""),
        tests=[TestFile("test_m.py", given.get("tests", ""))],
        examples=[],
        seed="1",
        budget_s=60.0,  # with other tests beside it, on two cores
    )


TOTAL = """class Sheet:
    def __init__(self, text):
        self.lines = text.split("\\n")
        self.problem = "no number: {value}" if "x" in text else ""
"""
USES_HELPERS = read_program(__file__, "USES_HELPERS")


def test_the_body_of_a_test_is_shown_with_plain_values_and_no_helper(warm: Sandbox) -> None:
    code, peer = (TOTAL.format(value=value) for value in ("x", "?"))
    found = _compare(warm, code, peer, "", tests=USES_HELPERS).differences
    assert [(item.call, item.code, item.peer) for item in found] == [
        ("Sheet('name;count\\nx\\nmilk;\\n').problem", "'no number: x'", "'no number: ?'")
    ]


BELLS = read_program(__file__, "BELLS")
STATEMENTS = read_program(__file__, "STATEMENTS")


@pytest.mark.parametrize(("operator", "differs"), [("*", False), ("+", True)])
def test_statements_reach_what_calls_do_not(warm: Sandbox, operator: str, differs: bool) -> None:
    """Functions, attributes, files and coroutines."""
    code, peer = BELLS.format(operator=operator), BELLS.format(operator="*")
    found = _compare(warm, code, peer, STATEMENTS)
    assert found.allowed >= 50, found
    assert bool(found.differences) == differs
    assert all(item.call.endswith("seen") for item in found.differences)


TAKES_COROUTINES = read_program(__file__, "TAKES_COROUTINES")


def test_bodies_of_tests_whose_calls_are_not_plain_are_inputs(warm: Sandbox) -> None:
    code = "import asyncio\n\nasync def first(*them):\n    found = await asyncio.gather(*them)\n"
    code += "    return next(iter(found), None)\n"
    found = _compare(
        warm, code, code.replace("found),", "found[::-1]),"), "", tests=TAKES_COROUTINES
    )
    assert found.differences, found


def test_equal_decimals_do_not_differ(warm: Sandbox) -> None:
    code = "from decimal import Decimal\n\ndef rest(paid):\n    return paid - Decimal('{}')\n"
    inputs = "def inputs(rng):\n    yield from ((Decimal(n),) for n in range(60))\n"
    found = _compare(warm, code.format("0"), code.format("0.00"), inputs)
    assert (found.differences, found.allowed >= 50) == ((), True)


POPS = STACK.format(at=-1) + """
    def pop(self):
        return self.items.pop() if self.items else {empty}
"""
SEQUENCES = read_program(__file__, "SEQUENCES")


@pytest.mark.parametrize(("least", "differs"), [(0, True), (1, False)])
def test_a_call_is_allowed_by_those_before_it(warm: Sandbox, least: int, differs: bool) -> None:
    peer = POPS.format(empty="-1")
    inputs = SEQUENCES.format(least=least)
    found = _compare(warm, POPS.format(empty="None"), peer, inputs)
    assert found.agreed, found
    assert bool(found.differences) == differs
    assert all("pop()" in item.call for item in found.differences)


def test_what_comes_after_a_call_that_is_not_allowed_says_nothing(warm: Sandbox) -> None:
    """Of two that change their object before they fail, or fail before that, neither is wrong."""
    early = (
        STACK.format(at=-1) + "    def add(self, n):\n        self.items.append(n)\n        1 / n\n"
    )
    late = early.replace(
        "self.items.append(n)\n        1 / n", "1 / n\n        self.items.append(n)"
    )
    inputs = "def inputs(rng):\n    for n in range(60):\n        yield [('Stack',), ('add', n), ('add', 0), ('add', 1)]\n"
    inputs += "def allowed(name, *arguments):\n    return name == 'Stack' or arguments[0] != 0\n"
    found = _compare(
        warm,
        early.replace("1 / n", "return [*self.items, 1 / n]"),
        late.replace(
            "self.items.append(n)\n", "self.items.append(n); return [*self.items, 1 / n]\n"
        ),
        inputs,
    )
    assert (found.differences, found.agreed > 20) == ((), True), found


@pytest.mark.parametrize(("item", "form"), [("n,", "n"), ("'double', n", "name, *arguments")])
def test_an_exception_beside_a_function_is_no_second_name(
    warm: Sandbox, item: str, form: str
) -> None:
    """A peer that names the function all the same is read as well."""
    code = "class Refused(Exception): ...\n\ndef double(n):\n    return 2 * n\n"
    inputs = f"def inputs(rng):\n    yield from (({item}) for n in range(60))\n\n"
    inputs += f"def allowed({form}):\n    return True\n"
    assert _compare(warm, code, code, inputs).allowed >= 50


def test_a_difference_stays_that_its_shrinking_makes_unsteady(warm: Sandbox) -> None:
    """What clears the state of the module is left out first."""
    code = "class Box: ...\n\nmade = []\n\ndef add(n):\n    made.append(n)\n\n"
    code += "def clear():\n    made[:] = []\n\ndef last():\n    return made[-1] if made else None\n"
    tests = "from m import add, clear, last\n\ndef test_a():\n    clear()\n    add(3)\n    add(4)\n    assert last() == 4\n"
    same, other = (
        _compare(warm, code, peer, "", tests=tests)
        for peer in (code, code.replace("made[-1]", "made[0]"))
    )
    assert (same.differences, same.agreed > 20) == ((), True), same
    assert other.differences


def test_programs_of_threads_are_no_inputs(warm: Sandbox) -> None:
    """A changed one may not wait for them."""
    tests = "import threading\nfrom m import Stack\n\ndef test_a():\n    one = Stack()\n"
    tests += "    threading.Thread(target=print).start()\n    assert one.items == []\n"
    code = STACK.format(at=-1)
    counts = [
        _compare(warm, code, code, "", tests=text).inputs
        for text in (tests, tests.replace("threading.Thread(target=print).start()", "pass"))
    ]
    assert counts[0] < counts[1]


def test_a_changed_argument_is_shown_by_statements_that_end_in_it(warm: Sandbox) -> None:
    code = "def join(a, b):\n    a.extend(b)\n    return a\n"
    inputs = "def inputs(rng):\n    yield [1], [2]\n\ndef allowed(a, b):\n    return list is type(a) is type(b)\n"
    found = _compare(warm, code, "def join(a, b):\n    return a + b\n", inputs)
    call = found.differences[0].call.split("\n")
    assert call[0].startswith("argument_1 = [")
    assert call[1].startswith("join(argument_1, [")
    assert call[2] == "argument_1"
    assert found.differences[0].peer_literal == call[0].partition(" = ")[2]


def test_a_decimal_can_be_expected(warm: Sandbox) -> None:
    code = "from decimal import Decimal\n\ndef f(n: int):\n    return Decimal(n)\n"
    inputs = "def inputs(rng):\n    yield from range(60)\n\ndef allowed(n):\n    return n >= 0\n"
    found = _compare(warm, code, code.replace("(n)\n", "(n + 1)\n"), inputs)
    assert "Decimal('1')" in {item.peer_literal for item in found.differences}


@pytest.mark.parametrize("is_method", [False, True])
@pytest.mark.parametrize(("text", "differs"), [("totals by key.", False), ("sorted by key.", True)])
def test_the_order_of_a_dict_counts_where_the_text_speaks_of_one(
    warm: Sandbox, text: str, differs: bool, is_method: bool
) -> None:
    code = "def f(self, n: int) -> dict:\n        return {9: n, 1: n}\n"
    code = f"class F:\n    {code}" if is_method else code.replace("self, ", "")
    item = "[('F',), ('f', n)]" if is_method else "(n,)"
    inputs = f"def inputs(rng):\n    for n in range(60):\n        yield {item}\n"
    peer = code.replace("{9: n, 1: n}", "{1: n, 9: n}")
    found = _compare(warm, code, peer, inputs, text=text).differences
    calls = {item.call for item in found if item.peer_literal == "[(1, 0), (9, 0)]"}
    assert any(".items())" in item for item in calls) == differs


@pytest.mark.parametrize("imports", ["import datetime as dt", "import datetime", ""])
def test_dates_are_inputs_whatever_the_module_imports(warm: Sandbox, imports: str) -> None:
    name = {"import datetime": "datetime.datetime", "": "datetime"}.get(imports, "dt.datetime")
    imports = imports or "from datetime import datetime, timezone"
    code = f"{imports}\n\ndef year(day: {name}) -> int:\n    return day.year\n"
    peer = "from datetime import datetime, timezone\n\ndef year(day):\n    return day.year\n"
    inputs = (
        "def inputs(rng):\n    for n in range(60):\n"
        "        yield (datetime(2000 + n, 1, 1, tzinfo=timezone.utc),)\n\n"
        "def allowed(day):\n    return isinstance(day, datetime)\n"
    )
    found = _compare(warm, code, peer, inputs)
    assert (found.agreed, found.differences) == (found.allowed, ())
    assert found.allowed >= 50


def test_constants_of_a_test_file_are_filled_in() -> None:
    test = (
        "from datetime import datetime\nfrom m import f\n\nNOW = datetime(2024, 1, 2)\n\n"
        "def test_f():\n    assert f(NOW) == 1\n"
    )
    assert [ast.unparse(i) for _, i in iterate_calls([test], "m", ["f"])] == [
        "f(datetime(2024, 1, 2))"
    ]


def test_a_mistake_of_the_peer_does_not_hide_one_of_the_code(warm: Sandbox) -> None:
    """Both answer `True` for `False`, in texts of the same characters."""
    right = "def ok(text: str) -> bool:\n    return text.count('(') == text.count(')')\n"
    code = right.replace("== text", "<= text")
    peer = right.replace("return ", "return text[:1] == '(' and ")
    tests = "from m import ok\n\ndef test_ok():\n    assert ok('(())')\n"
    allowed = "def allowed(text):\n    return set(text) <= set('()')\n"
    found = _compare(warm, code, peer, allowed, tests=tests).differences
    assert len(found) == 5
    is_right = [
        item.code == str(eval(right.partition("return")[2], {"text": item.call[4:-2]}))
        for item in found
    ]
    assert set(is_right) == {True, False}


def test_few_allowed_inputs_lead_to_others(warm: Sandbox) -> None:
    code = "def beats(notes: str) -> int:\n    return len(notes.split())\n"
    allowed = "def allowed(notes):\n    return set(notes.split(' ')) <= {'o', 'o|', '.|'}\n"
    tests = "from m import beats\n\ndef test_beats():\n    assert beats('o o| .| o| o|') == 5\n"
    found = _compare(warm, code, code.replace("split()", "split(' ')"), allowed, tests=tests)
    assert found.allowed >= 50


def _compare_halves(box: Sandbox, code: str, peer: str) -> Comparison:
    return compare_programs(
        box,
        module="m",
        code=code,
        peer=PeerProgram(
            peer, "def inputs(rng):\n    yield 8,\n\ndef allowed(n):\n    return n >= 0"
        ),
        interface="def half(n: int) -> int: ...",
        specification="half(n) is half of n, rounded down.",
        tests=[],
        examples=[],
        seed="1",
    )


def test_integers_that_no_float_holds_are_tried(warm: Sandbox) -> None:
    right = "def half(n):\n    return n // 2\n"
    found = _compare_halves(warm, "def half(n):\n    return int(n / 2)\n", right)
    assert found.differences
    assert _compare_halves(warm, right, right).differences == ()


def test_integers_too_large_for_a_program_say_nothing(warm: Sandbox) -> None:
    """They come last, as they may end the process."""
    power = "def half(n):\n    10 ** n\n    return n // 2\n"
    found = _compare_halves(warm, power, "def half(n):\n    return n // 2\n")
    assert (found.differences, found.slower, found.problem) == ((), (), "")
    assert found.agreed == found.allowed >= 50


CATEGORIES = read_program(__file__, "CATEGORIES")
SCORE = CATEGORIES + """

def score(dice, category, size):
    factor = size.value
    if category is PAIR:
        return factor * max((n for n in dice if dice.count(n) > 1), default=0)
    return factor * sum(dice)
"""
CHOOSING = read_program(__file__, "CHOOSING")


@pytest.mark.parametrize("differs", [False, True])
def test_constants_and_members_of_enumerations_are_inputs(warm: Sandbox, differs: bool) -> None:
    code = SCORE.replace("category is PAIR", "category is not PAIR") if differs else SCORE
    test = "from m import SUM, Size, score\n\ndef test_m():\n    score([1], SUM, Size.SMALL)\n"
    found = compare_programs(
        warm,
        module="m",
        code=code,
        peer=PeerProgram(SCORE, CHOOSING),
        interface="def score(dice, category, size): ...",
        specification="",
        tests=[TestFile("test_m.py", test)],
        examples=[],
        seed="1",
        budget_s=20.0,
    )
    assert found.allowed >= 50, found
    assert bool(found.differences) == differs
    assert not differs or "PAIR, Size." in "".join(item.call for item in found.differences)


TURNS = read_program(__file__, "TURNS")
TURNING = read_program(__file__, "TURNING")
RIGHT_TURN = "SOUTH if self.direction == NORTH else NORTH"


@pytest.mark.parametrize("values", [(1, 2), ((0, 1), (0, -1))])
@pytest.mark.parametrize(("turned", "differs"), [(RIGHT_TURN, False), ("SOUTH", True)])
def test_constants_whose_values_the_text_leaves_open_are_compared_by_name(
    warm: Sandbox, turned: str, differs: bool, values: tuple[object, object]
) -> None:
    mine = TURNS.format(north=values[0], south=values[1], turned=turned)
    peer = TURNS.format(north=7, south=0, turned=RIGHT_TURN)
    stub = "NORTH: int\nSOUTH: int\n\nclass Robot:\n    def __init__(self, direction): ...\n\n"
    interface = stub + "    def turn(self): ...\n\ndef look(direction): ...\n"
    found = _compare(warm, mine, peer, TURNING, interface=interface)
    assert found.allowed, found
    assert bool(found.differences) == differs, found


SILENT = """class Game:
    def roll(self, pins):
        if pins < 0:
            raise ValueError("negative")
"""
OF_WORDING = read_program(__file__, "OF_WORDING")


def test_wording_of_an_error_that_a_test_asserts_is_no_difference(warm: Sandbox) -> None:
    peer = SILENT.replace('"negative"', '"too few pins"')
    inputs = "def inputs(rng):\n    yield from ()\n\n\ndef allowed(*_, **__):\n    return True\n"
    found = _compare(warm, SILENT, peer, inputs, tests=OF_WORDING)
    assert found.differences == ()


COUNTING = read_program(__file__, "COUNTING")
OF_STREAMS = read_program(__file__, "OF_STREAMS")


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [("split()", "split(' ')", True), ('{error}"', 'cannot be read"', False)],
)
def test_what_a_program_prints_is_compared_but_for_the_wording_of_its_errors(
    warm: Sandbox, old: str, new: str, differs: bool
) -> None:
    found = _compare(warm, COUNTING, COUNTING.replace(old, new), "", tests=OF_STREAMS)
    assert (bool(found.differences), found.allowed > 20) == (differs, True), found


def test_objects_whose_public_attributes_are_all_equal_agree(warm: Sandbox) -> None:
    code = "class Node:\n    def __init__(self, text):\n        self.text = text\n\n\ndef parse(text):\n    return Node(text.strip())\n"
    stub = "class Node:\n    def __init__(self, text): ...\n\ndef parse(text): ...\n"
    tests = "from m import parse\n\ndef test_a():\n    assert parse(' a').text == 'a'\n"
    found = _compare(warm, code, code, "", tests=tests, interface=stub)
    assert (found.differences, found.allowed > 20) == ((), True), found
    mine = code.replace("Node(text.strip())", "Node(text)")
    assert _compare(warm, mine, code, "", tests=tests, interface=stub).differences
