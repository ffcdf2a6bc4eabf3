"""What the judge is shown of a difference, and what follows from its ruling."""

import ast
from dataclasses import replace

import pytest

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.peer.names import Names
from greenloop.grading.peer.outcomes import Outcome, judge
from greenloop.grading.peer.records import FoundDifference
from greenloop.records.generation import DifferenceRuling
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER
from greenloop.testsuite import Suite
from greenloop.testsuite.programs import build_programs
from greenloop.workflow.peer.rulings import (
    OpenDifference,
    arrange,
    from_tests,
    interpret,
    is_wording,
)
from tests.support.programs import read_program, read_table

CODE = "class Hall:\n    def __init__(self, clock): ...\n    def plan(self, width): ...\n"
TESTS = read_program(__file__, "TESTS")


def test_a_test_is_one_difference_whatever_its_rows() -> None:
    failing = {f"test_m.py::test_plan[{row}]": "assert 1\n+ 2" for row in (1, 3)}
    (found,) = from_tests(failing, Suite("m", generated=TESTS))
    assert (found.test, found.found.cluster) == ("test_m.py::test_plan", ("assert 1",))
    ((shown, code_is_first),) = arrange([found], "seed")
    assert shown.is_test
    assert (shown.second if code_is_first else shown.first).endswith("fails in the rows [1], [3]")
    assert "def make_hall():" in shown.call
    assert "R1" not in shown.call
    assert "R9" not in shown.call


def test_answers_stand_in_an_order_of_chance_that_the_seed_fixes() -> None:
    found = OpenDifference(FoundDifference("f(1)", "of the code", "of the peer"))
    orders = set()
    for seed in map(str, range(40)):
        ((shown, code_is_first),) = arrange([found], seed)
        assert (shown.first, shown.second)[not code_is_first] == "of the code"
        assert arrange([found], seed) == [(shown, code_is_first)]
        orders.add(code_is_first)
    assert orders == {True, False}


def test_neither_is_no_ruling_on_a_test() -> None:
    ruling = DifferenceRuling(id=1, right="neither", because="")
    found = FoundDifference("f(1)", "1", "2")
    assert (
        interpret(ruling, True, OpenDifference(found, "test_m.py::test_f")) == "text does not say"
    )
    assert interpret(ruling, True, OpenDifference(found)) == "both are wrong"


@pytest.mark.parametrize(("code", "peer", "expected"), read_table(__file__, "WORDING_FREE"))
def test_wording_is_free_where_sentences_within_the_answers_alone_differ(
    code: str, peer: str, expected: str
) -> None:
    ruling = DifferenceRuling(id=1, right="wording", because="")
    found = OpenDifference(FoundDifference("f(1)", code, peer))
    assert interpret(ruling, True, found) == expected
    assert found.to_record(interpret(ruling, True, found)).counts_against is (
        expected != "wording is free"
    )


def test_what_the_text_does_not_speak_of_counts_for_nothing() -> None:
    found = OpenDifference(FoundDifference("f(-1)", "0", "raises ValueError('x')"))
    ruling = interpret(DifferenceRuling(id=1, right="outside", because=""), True, found)
    assert found.to_record(ruling).counts_against is False


@pytest.mark.parametrize(("message", "text", "expected"), read_table(__file__, "WORDING_MESSAGE"))
def test_the_wording_of_a_message_is_no_difference(message: str, text: str, expected: bool) -> None:
    assert is_wording(message, text) is expected


def find_difference() -> FoundDifference:
    plan = build_programs(TESTS, "m")
    item = Input(plan.programs[0].function, plan.programs[0].test, plan.preamble)
    answers = ({"value": "."}, {"value": ".."})
    return Outcome(item, Answer(), Answer(), False, 2, ("str", "str"), answers).to_record()


RAISED = '{"error": ["exception", [["builtins", "ValueError"]], "no", {}]}'
ITEMS = '{"value": ["tuple", "iterator", ["list", "A"]]}'


@pytest.mark.parametrize(
    ("code", "peer", "coroutines", "shown"),
    [
        (RAISED, ITEMS, (), ("list(f(9))", "raises ValueError('no')", "['A']", "['A']")),
        ('{"value": ["list", "A"]}', ITEMS, (), ("f(9)", "['A']", "iterator of ['A']", None)),
        (
            RAISED,
            '{"value": "A"}',
            ("f",),
            ("asyncio.run(f(9))", "raises ValueError('no')", "'A'", "'A'"),
        ),
    ],
)
def test_a_call_is_written_so_that_it_gives_what_was_observed(
    code: str, peer: str, coroutines: tuple[str, ...], shown: tuple[str | None, ...]
) -> None:
    item = Input(ast.parse("f(9)", mode="eval").body, "f")
    answers = [Answer(((ANSWER, text),), "") for text in (code, peer)]
    found = judge(item, *answers, Names(coroutines=frozenset(coroutines))).to_record()
    assert (found.call, found.code, found.peer, found.peer_literal) == shown


def test_that_nothing_is_raised_is_no_value() -> None:
    program = ast.parse("def p():\n with raising__(1):\n  f(9)").body[0]
    answers = [Answer(((1, text),), "") for text in (RAISED, '{"value": null}')]
    found = judge(Input(program, "test_f"), *answers, Names(frozenset({"ValueError"}))).to_record()
    assert (found.code, found.peer) == ("raises ValueError('no')", "no exception")
    example = OpenDifference(found).build_example(DifferenceRuling(id=1, right="first", because=""))
    assert example is None


def test_a_question_writes_out_what_helpers_return() -> None:
    helpers = "def user(name, owes=None):\n    return {'name': name, 'owes': owes or {}}\n"
    helpers += "def api(*names):\n    return Api(names)\ndef base():\n    return Api([user('A')])\n"
    call = "api = base()\napi.post(user('B', {'A': 3}))"
    found = FoundDifference(call, "1", "2", helpers=helpers)
    question = OpenDifference(found).build_choice(1).question
    first = "api = Api([{'name': 'A', 'owes': {}}])"
    assert f"`{first}; api.post({{'name': 'B', 'owes': {{'A': 3}} or {{}}}})`" in question
    twice = FoundDifference("f(api(1))\nuser(f())", "1", "2", helpers=helpers)
    assert (
        "`f(api(1)); {'name': f(), 'owes': {}}`" in OpenDifference(twice).build_choice(1).question
    )


def test_a_question_and_a_test_name_helpers_as_the_tests_do() -> None:
    record = find_difference()
    assert "make_hall()" in record.call
    found = OpenDifference(record)
    example = found.build_example(DifferenceRuling(id=1, right="first", because=""))
    assert example is not None
    assert "class FakeClock" in example.call
    assert "from m import Hall" in example.call
    ast.parse(example.call)


def test_a_call_that_takes_something_from_outside_is_no_test() -> None:
    record = replace(find_difference(), helpers="")
    ruling = DifferenceRuling(id=1, right="first", because="")
    assert OpenDifference(record).build_example(ruling) is None


def test_definitions_that_tests_share_are_shown_once() -> None:
    tests = TESTS + "\ndef test_tall():\n    assert make_hall().plan(8) == '.'\n"
    found = from_tests(
        {"test_m.py::test_tall": "", "test_m.py::test_wide": ""}, Suite("m", generated=tests)
    )
    (one, _), (other, _) = arrange(found, "seed")
    assert "class FakeClock" in one.call
    assert other.call.startswith("# with the definitions of difference 1\ndef test_wide():")
    assert "FakeClock" not in found[1].build_finding("so").message


def test_statements_on_an_argument_are_a_test() -> None:
    call = "argument_1 = [1]\njoin(argument_1, datetime(2024, 1, 2))\nargument_1"
    found = FoundDifference(call, "[1, 2]", "[1]", "[1]", callee="join")
    ruling = DifferenceRuling(id=1, right="first", because="so")
    example = OpenDifference(found).build_example(ruling)
    assert example is not None
    assert (example.call, example.returns) == (call, "[1]")
    assert OpenDifference(replace(found, callee="")).build_example(ruling) is None
