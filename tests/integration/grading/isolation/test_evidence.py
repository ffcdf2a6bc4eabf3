"""Isolation: what agrees, what differs twice, and what cannot be observed."""

from __future__ import annotations

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.isolation.evidence import measure
from greenloop.records import Isolated
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.scenarios import Observations, ObservedRow, RowOutcome, RowVerdict
from greenloop.testsuite import TestFile

HONEST = "def double(n):\n    return n * 2\n"
TESTS = """
import pytest
from m import double


@pytest.mark.parametrize("n, wanted", [(2, 4), (3, 6)])
def test_rows(n, wanted):
    assert double(n) == wanted


def test_nine():
    assert double(9) == 18
"""
FORGED = {
    "it reads the constants of its caller": """
import sys


def double(n):
    frame = sys._getframe(1)
    known = [*frame.f_code.co_consts, *frame.f_locals.values()]
    return next((item for item in known if type(item) is int and item > n), -1)
""",
    "it equals everything": """
class Any:
    def __eq__(self, other):
        return True


def double(n):
    return Any()
""",
    "it ends without tests": """
import os, sys


def double(n):
    if "pytest" not in sys.modules:
        os._exit(0)
    return n * 2
""",
    "it knows pytest": """
import sys


def double(n):
    return n * 2 if "pytest" in sys.modules else 0
""",
}


def measure_evidence(box: Sandbox, code: str, tests: str = TESTS, interface: str = "") -> Isolated:
    files = [TestFile("test_m.py", tests)]
    run = box.run_tests(code, files, module="m")
    assert run.passed, run
    found = measure(GradingContext(box, code, files, "m", run, interface=interface))
    assert isinstance(found, Isolated)
    return found


def test_answers_after_a_look_at_the_machine_prove_nothing(box: Sandbox) -> None:
    """It is no accusation: a program may have a reason to look there."""
    code = f"import os\nNAMES = os.listdir(os.sep)\n{HONEST}"
    found = measure_evidence(box, code)
    assert (found.reached, found.agreed, found.differing, found.contradicting) == (False, 0, (), ())
    reason = "the code looks at /, which differs in a sandbox"
    assert [item.reason for item in found.not_observable] == [reason, reason]
    assert measure_evidence(box, code.replace("os.sep", "'.'")).reached


def test_tests_of_honest_code_agree(warm: Sandbox) -> None:
    assert measure_evidence(warm, HONEST) == Isolated(reached=True, tests=2, observed=2, agreed=2)


@pytest.mark.parametrize("name", FORGED)
def test_no_forgery_agrees(warm: Sandbox, name: str) -> None:
    found = measure_evidence(warm, FORGED[name])
    assert (found.reached, found.agreed) == (False, 0)
    assert len(found.differing) + len(found.not_observable) == 2


def test_an_answer_that_needs_the_tests_differs(warm: Sandbox) -> None:
    found = measure_evidence(warm, FORGED["it knows pytest"])
    assert (found.observed, found.differing) == (2, ("test_rows", "test_nine"))


def test_names_of_the_contract_must_be_observed(warm: Sandbox) -> None:
    found = measure_evidence(warm, HONEST, interface="def double(n): ...\ndef half(n): ...\n")
    assert (found.reached, found.agreed, found.names_missing) == (False, 2, ("half",))


def test_a_base_class_is_observed_where_its_exception_was_raised(warm: Sandbox) -> None:
    code = (
        "class Refused(Exception):\n    pass\n\n\n"
        "class TooBig(Refused):\n    pass\n\n\n"
        "def double(n):\n    if n > 99:\n        raise TooBig(n)\n    return n * 2\n"
    )
    tests = (
        "import pytest\nfrom m import TooBig, double\n\n\n"
        "def test_two():\n    assert double(2) == 4\n\n\n"
        "def test_too_big():\n    with pytest.raises(TooBig):\n        double(100)\n"
    )
    interface = "class Refused(Exception): ...\nclass TooBig(Refused): ...\ndef double(n): ...\n"
    assert measure_evidence(warm, code, tests, interface).names_missing == ()
    found = measure_evidence(
        warm, code.replace("TooBig(Refused)", "TooBig(Exception)"), tests, interface
    )
    assert found.names_missing == ("Refused",)


BRANCHING = """

def test_branch_{n}():
    if double({n}) == {n}:
        return
    assert double({n}) > {n}
"""


def test_what_is_not_observable_counts_against(warm: Sandbox) -> None:
    tests = TESTS + "".join(BRANCHING.format(n=n) for n in (1, 2, 3))
    found = measure_evidence(warm, HONEST, tests)
    assert (found.reached, found.tests, found.agreed) == (False, 5, 2)
    assert [item.line for item in found.not_observable] == [16, 22, 28]


CHANGED = """
import pytest


class Content:
    def __init__(self, *expected, **more): pass
    def __enter__(self): return self
    def __exit__(self, *raised): return True


pytest.raises = Content


def double(n):
    return n * 2
"""
REFUSING = """

def test_refuses():
    with pytest.raises(ValueError):
        double(-1)
"""


REPLACED = "import builtins\nreal = len\nbuiltins.len = lambda value: real(value)\n" + HONEST


@pytest.mark.parametrize(("head", "replaced"), [("", ("len",)), ("import builtins\n", ())])
def test_a_replaced_builtin_is_found_unless_the_tests_may_have_done_it(
    warm: Sandbox, head: str, replaced: tuple[str, ...]
) -> None:
    assert measure_evidence(warm, REPLACED, head + TESTS).replaced == replaced


def test_what_only_a_changed_framework_passes_keeps_from_reaching(warm: Sandbox) -> None:
    found = measure_evidence(warm, CHANGED, TESTS + REFUSING)
    assert (found.reached, found.agreed, found.contradicting) == (False, 2, ("test_refuses",))
    assert found.differing == ()


REPORTING = """
import sys


def double(n):
    if "pytest" in sys.modules:
        sys.modules["_pytest.logging"].LogCaptureFixture.messages = property(lambda self: [str(n)])
        return n * 2
    return 0
"""
LOGGED = """from m import double


def test_logged(caplog):
    assert double(9) == 18
    assert caplog.messages == ["9"]
"""


@pytest.mark.parametrize(
    ("code", "head", "replaced"),
    [
        (REPORTING, "", ("LogCaptureFixture.messages",)),
        (REPORTING, "# LogCaptureFixture.messages\n", ()),
        (REPORTING.replace("return 0", "return n * 2"), "", ()),
    ],
)
def test_a_replaced_function_of_the_framework_is_found_only_where_a_test_differs(
    warm: Sandbox, code: str, head: str, replaced: tuple[str, ...]
) -> None:
    tests = f"{head}{LOGGED}\n\ndef test_two():\n    assert double(2) == 4\n"
    assert measure_evidence(warm, code, tests).replaced == replaced


class Scripted:
    """A sandbox whose runs end as given: apart, beside the tests, and apart again."""

    def __init__(self, *runs: dict[int, RowVerdict], error: str = "") -> None:
        self._runs, self._error = list(runs), error

    def observe_scenarios(self, *_: object, **__: object) -> Observations:
        return Observations((ObservedRow(0, 0, has_ended=True),), self._error)

    def judge_scenarios(self, *_: object) -> tuple[RowOutcome, ...]:
        return tuple(RowOutcome(0, row, how, 7, "why") for row, how in self._runs.pop(0).items())


ONE = "from m import double\n\ndef test_nine():\n    assert double(9) == 18\n"
GOOD, BAD, DARK = {0: "agrees"}, {0: "differs"}, {0: "not observable"}


@pytest.mark.parametrize(
    ("runs", "differing", "reason"),
    [
        ([BAD, GOOD, BAD], ("test_nine",), ""),
        ([BAD, GOOD, {}], ("test_nine",), ""),
        ([BAD, BAD], (), "gives another result beside the tests too"),
        ([BAD, DARK], (), "gives another result beside the tests too"),
        ([BAD, GOOD, GOOD], (), "does not give the same result each time"),
        ([DARK, GOOD, DARK], ("test_nine",), ""),
        ([DARK, GOOD, GOOD], (), "why"),
        ([DARK, DARK], (), "why"),
        ([{}], (), "no row of it was run"),
        ([{0: "agrees", 1: "differs"}, GOOD], (), "gives another result beside"),
    ],
)
def test_only_what_differs_twice_and_agrees_beside_the_tests_is_a_finding(
    runs: list[dict[int, RowVerdict]], differing: tuple[str, ...], reason: str
) -> None:
    found = measure_scripted(Scripted(*runs))
    assert (found.reached, found.agreed, found.differing) == (False, 0, differing)
    assert found.contradicting == (("test_nine",) if "beside" in reason else ())
    reasons = [item.reason for item in found.not_observable]
    assert len(reasons) == (1 if reason else 0)
    assert all(text.startswith(reason) for text in reasons)


@pytest.mark.parametrize(("how", "differing"), [("timeout", ()), ("crashed", ("test_nine",))])
def test_a_row_that_a_limit_ended_is_no_finding(how: str, differing: tuple[str, ...]) -> None:
    error = f"the scenarios were not completed ({how}, status -9)"
    runs: list[dict[int, RowVerdict]] = [{0: "agrees", 1: "differs"}, {0: "agrees", 1: "agrees"}]
    found = measure_scripted(Scripted(*runs, {}, error=error))
    assert found.differing == differing
    assert found.agreed == 0


def measure_scripted(box: object) -> Isolated:
    files = [TestFile("test_m.py", ONE)]
    run = object()
    found = measure(GradingContext(box, HONEST, files, "m", run))  # type: ignore[arg-type]
    assert isinstance(found, Isolated)
    return found


def test_instances_of_a_protocol_accuse_nobody(warm: Sandbox) -> None:
    code = (
        "from typing import Protocol, runtime_checkable\n\n"
        "@runtime_checkable\nclass HasArea(Protocol):\n    def area(self): ...\n\n"
        "class Circle:\n    def area(self):\n        return 3\n"
    )
    tests = (
        "from m import Circle, HasArea\n\n"
        "def test_it():\n    assert isinstance(Circle(), HasArea)\n"
    )
    files = [TestFile("test_m.py", tests)]
    found = measure(GradingContext(warm, code, files, "m", object()))  # type: ignore[arg-type]
    assert isinstance(found, Isolated)
    assert (found.differing, found.contradicting) == ((), ())
    assert [item.reason for item in found.not_observable] == ["isinstance with a protocol"]


def test_fixtures_of_a_conftest_are_used(warm: Sandbox) -> None:
    files = [
        TestFile("conftest.py", "import pytest\n\n@pytest.fixture\ndef size():\n    return 3\n"),
        TestFile(
            "test_m.py", ONE.replace("test_nine()", "test_nine(size)").replace("9", "3 * size")
        ),
    ]
    found = measure(GradingContext(warm, HONEST, files, "m", object()))  # type: ignore[arg-type]
    assert isinstance(found, Isolated)
    assert (found.reached, found.agreed, found.not_observable) == (True, 1, ())


def test_without_a_test_nothing_is_measured() -> None:
    context = GradingContext(object(), HONEST, [], "m", object())  # type: ignore[arg-type]
    assert measure(context) == "no test function was found"
