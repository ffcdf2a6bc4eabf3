"""Complaints about generated tests."""

from typing import Any

import pytest

from greenloop.records import (
    Contract,
    Failure,
    Frame,
    HeldOutExample,
    Requirement,
    TestOutcome,
    TestRun,
)
from greenloop.testsuite import Suite, TestFile
from greenloop.testsuite.quality_gates import (
    NOT_RUN_MESSAGES,
    find_broken_on_stub,
    find_complaints,
    find_green_on_stub,
    find_skipping_tests,
    find_untested_requirements,
)

CONTRACT = Contract(
    module="m",
    summary="s",
    interface="def f(): ...",
    requirements=(Requirement(id="R1", text="one"), Requirement(id="R2", text="two")),
)
GOOD = (
    'def test_a():\n    """R1: a."""\n    assert f() == 1\n\n'
    'def test_b():\n    """R2: b."""\n    assert f() == 2\n'
)
GIVEN = (TestFile("test_given.py", "def test_own(): pass", locked=True),)


ENOUGH = (
    *(HeldOutExample(requirement="R1", call=f"f({n})", returns="1") for n in range(2)),
    *(HeldOutExample(requirement="R2", call=f"f(-{n})", raises="ValueError") for n in range(2)),
)


def suite_of(code: str = GOOD, **others: Any) -> Suite:
    return Suite(module="m", generated=code, user_files=GIVEN, **{"held_out": ENOUGH, **others})


def run_of(outcomes: dict[str, str], *failures: Failure, **others: Any) -> TestRun:
    tests = [TestOutcome(id=f"test_m.py::{k}", outcome=v) for k, v in outcomes.items()]  # type: ignore[arg-type]
    values = {"ending": "finished", "exit_status": 1, **others}
    return TestRun(tests=tuple(tests), failures=failures, **values)


def failure(
    test: str,
    exception: str,
    file: str = "test_m.py",
    phase: Any = "call",
    message: str = "why\nmore",
) -> Failure:
    frames = (Frame(file=file, line=1, function="x", text="y"),)
    return Failure(test=test, phase=phase, exception=exception, message=message, frames=frames)


RED = {"test_a": "failed", "test_b": "error"}


def test_valid_tests_have_no_complaint() -> None:
    assert find_complaints(CONTRACT, suite_of(), run_of(RED)).all == ()


FATAL = {
    "cannot be collected: SyntaxError: why": run_of(
        {}, failure("test_m.py", "SyntaxError", phase="collect")
    ),
    "did not come to an end (timeout: late)": run_of(RED, ending="timeout", detail="late"),
    "did not come to an end (exit status 2)": run_of(
        {"test_a": "failed"},
        failure("test_m.py::test_b", "Exit"),
        missing=("test_m.py::test_b",),
        exit_status=2,
    ),
}


@pytest.mark.parametrize("said", FATAL)
def test_incomplete_run_is_a_fatal_complaint(said: str) -> None:
    found = find_complaints(CONTRACT, suite_of(), FATAL[said])
    (fatal,) = found.fatal
    assert said in fatal
    assert found.all == found.fatal + found.weaknesses


def test_file_without_tests_is_a_fatal_complaint() -> None:
    assert "holds no test" in find_complaints(CONTRACT, suite_of("x = 1"), run_of({})).fatal[0]


def test_collection_error_of_a_user_file_is_no_complaint() -> None:
    run = run_of({}, failure("test_given.py", "ImportError", phase="collect"))
    assert find_complaints(CONTRACT, suite_of(), run).fatal == ()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (GOOD + "def test_b():\n    '''R2: again.'''\n", "test_b is defined twice"),
        (GOOD + "def test_c(): pass\n", "test_c names no requirement"),
        (GOOD + "def test_c():\n    '''R9: c.'''\n", "not in the contract: R9."),
        (GOOD + "@pytest.mark.skip\ndef test_c():\n    '''R1: c.'''\n", "test_c may skip"),
        (GOOD + "def test_c():\n    '''R1: c.'''\n    return f() == 1\n", "test_c returns a value"),
        (GOOD.replace("R2", "R1"), "No test names R2."),
    ],
)
def test_complaints_about_the_text(code: str, said: str) -> None:
    (only,) = find_complaints(CONTRACT, suite_of(code), run_of(RED)).all
    assert said in only


@pytest.mark.parametrize(
    ("outcomes", "green"),
    [
        ({"test_a": "passed", "test_b": "failed"}, ("test_a",)),
        ({"test_a": "skipped", "test_b": "xfailed"}, ("test_a", "test_b")),
        ({"test_a[1]": "passed", "test_a[2]": "failed", "test_b": "error"}, ()),
        ({"test_a[1]": "passed", "test_a[2]": "passed", "test_b": "error"}, ("test_a",)),
    ],
)
def test_test_without_a_failed_case_on_the_stub_is_green(
    outcomes: dict[str, str], green: tuple[str, ...]
) -> None:
    run = run_of(outcomes)
    assert find_green_on_stub(suite_of(), run) == green
    said = find_complaints(CONTRACT, suite_of(), run).weaknesses
    assert [item.split()[0] for item in said] == list(green)


def test_given_tests_may_be_green_on_the_stub() -> None:
    own = TestOutcome(id="test_given.py::test_own", outcome="passed")
    assert find_green_on_stub(suite_of(), TestRun(ending="finished", tests=(own,))) == ()


@pytest.mark.parametrize(
    ("item", "broken"),
    [
        (failure("test_m.py::test_a", "NameError"), True),
        (failure("test_m.py::test_a", "ModuleNotFoundError"), True),
        (failure("test_m.py::test_a", "FixtureLookupError", phase="setup"), True),
        (
            failure("test_m.py::test_a", "Failed", message=f"{NOT_RUN_MESSAGES[0]} that runs it"),
            True,
        ),
        (failure("test_m.py::test_a", "Failed"), False),
        (failure("test_m.py::test_a", "NameError", file="m.py"), False),
        (failure("test_m.py::test_a", "NotImplementedError"), False),
        (failure("test_given.py::test_own", "NameError", file="test_given.py"), False),
    ],
)
def test_test_with_an_error_of_its_own_is_broken(item: Failure, broken: bool) -> None:
    run = run_of(RED, item)
    said_first = item.message.split("\n")[0]
    expected = {"test_a": f"{item.exception}: {said_first}"} if broken else {}
    assert find_broken_on_stub(suite_of(), run) == expected
    said = find_complaints(CONTRACT, suite_of(), run).weaknesses
    assert any("test_a is broken" in text for text in said) is broken


def test_skipping_tests_are_named() -> None:
    code = GOOD + "def test_c():\n    pytest.skip('x')\n"
    assert find_skipping_tests(suite_of(code)) == ("test_c",)


def test_requirement_is_tested_by_any_test_or_held_out_example() -> None:
    only_first = GOOD.replace("R2", "R1")
    assert find_untested_requirements(CONTRACT, suite_of(only_first, held_out=())) == ("R2",)
    assert find_untested_requirements(CONTRACT, suite_of()) == ()
    held_out = (HeldOutExample(requirement="R2", call="f()", returns="1"),)
    assert find_untested_requirements(CONTRACT, suite_of(only_first, held_out=held_out)) == ()


HELPER = tuple(item.model_copy(update={"call": f"play({item.call})"}) for item in ENOUGH)


@pytest.mark.parametrize(
    "held_out", [(), ENOUGH[:3], ENOUGH[1:], HELPER], ids=["none", "three", "1 value", "a helper"]
)
def test_few_held_out_examples_are_a_complaint(held_out: tuple[HeldOutExample, ...]) -> None:
    suite = suite_of(held_out=held_out, public=frozenset({"f"}))
    wrong = find_complaints(CONTRACT, suite, run_of({"test_a": "failed"}))
    assert wrong.fatal == ()
    assert wrong.all[-1].startswith("Give at least 4 held-out examples")
