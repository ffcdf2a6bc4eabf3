"""The tests' side of the beginning: generated from the contract alone, and made to earn trust."""

from __future__ import annotations

from dataclasses import replace

from greenloop.autofix import free_fixes, with_missing_imports
from greenloop.errors import UnusableAnswerError
from greenloop.events import Emit, Notice, RedPhaseDone
from greenloop.records import Contract, Expectation, GeneratedTests, Origin, RedPhase, TestRun
from greenloop.specification.examples import example_tests
from greenloop.testsuite import Suite
from greenloop.testsuite.quality_gates import (
    Complaints,
    broken_on_stub,
    complaints,
    green_on_stub,
    returning,
    skipping,
)
from greenloop.testsuite.stubs import stub
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import RunState

ON_STUB = "tests on a stub"


async def earn_tests(kit: Toolkit, state: RunState, emit: Emit) -> None:
    """The suite, each test of it seen to fail on a stub.

    Complaints go back to the model once; what still proves nothing then is set aside.

    Raises:
        UnusableAnswerError: no test is left.
        GreenloopError: a call or the sandbox failed.
    """
    generated = await kit.generate_tests(state.agreed)
    suite = _suite(state, generated)
    on_stub = await _on_stub(kit, state, emit, suite)
    wrong = complaints(state.agreed, suite, on_stub)
    if wrong.all:
        emit(Notice(f"the tests were sent back: {wrong.all[0]}" + _more(wrong)))
        suite, on_stub, wrong = await _mended(kit, state, emit, suite, on_stub, wrong)
    if wrong.fatal:
        suite, on_stub = await _without_generated(kit, state, emit, suite, wrong)
    state.suite = set_aside(suite, on_stub, "generated")
    _conclude(state, on_stub)
    emit(RedPhaseDone(_red_phase(state), len(state.expected.ids) if state.expected else 0))


def _suite(state: RunState, generated: GeneratedTests) -> Suite:
    contract = state.agreed
    return Suite(
        module=contract.module,
        generated=free_fixes(generated.code, is_test=True).code,
        examples=example_tests(contract.module, contract.examples),
        given=tuple(item.as_file() for item in state.request.given),
        sealed=generated.sealed,
    )


async def _on_stub(kit: Toolkit, state: RunState, emit: Emit, suite: Suite) -> TestRun:
    return await run_suite(
        kit, state, emit, stub_of(state.agreed), suite, None, ON_STUB, brief=True
    )


def stub_of(contract: Contract) -> str:
    """The contract's stub, with the imports that its interface forgot."""
    return with_missing_imports(stub(contract.interface))[0]


async def _mended(
    kit: Toolkit, state: RunState, emit: Emit, suite: Suite, on_stub: TestRun, wrong: Complaints
) -> tuple[Suite, TestRun, Complaints]:
    """The second version of the tests, unless it is worse than the first."""
    again = await kit.generate_tests(state.agreed, wrong.all, suite.generated)
    second = _suite(state, again)
    if not second.sealed:
        second = replace(second, sealed=suite.sealed)
    second_on_stub = await _on_stub(kit, state, emit, second)
    still_wrong = complaints(state.agreed, second, second_on_stub)
    if still_wrong.fatal and not wrong.fatal:
        return suite, on_stub, wrong
    return second, second_on_stub, still_wrong


async def _without_generated(
    kit: Toolkit, state: RunState, emit: Emit, suite: Suite, wrong: Complaints
) -> tuple[Suite, TestRun]:
    """The person's own tests and examples alone, where there are any."""
    kept = replace(suite, generated="")
    if not kept.files:
        raise UnusableAnswerError(f"generate_tests: no usable tests: {wrong.fatal[0]}")
    state.notes.append(f"generated tests set aside: {wrong.fatal[0]}")
    return kept, await _on_stub(kit, state, emit, kept)


def set_aside(suite: Suite, on_stub: TestRun, origin: Origin) -> Suite:
    """Without tests of one origin that prove nothing, are broken, or may skip."""
    reasons = dict.fromkeys(green_on_stub(suite, on_stub), "passes on a stub: proves nothing")
    reasons |= {name: f"is broken: {why}" for name, why in broken_on_stub(suite, on_stub).items()}
    reasons |= dict.fromkeys(skipping(suite), "may skip: gives no verdict")
    written = (item for _, item in suite.functions)
    reasons |= dict.fromkeys(returning(written), "returns a value instead of asserting it")
    for name, why in reasons.items():
        if suite.origin(name) == origin:
            suite = suite.drop(name, why, disputed=False)
    return suite


def _conclude(state: RunState, on_stub: TestRun) -> None:
    """What later runs must report, as far as the stub told; and how the red phase went."""
    standing = [item for item in on_stub.tests if state.tests.stands(item.id)]
    if not state.tests.functions:
        raise UnusableAnswerError("generate_tests: no test is left that fails on a stub")
    given = [item for item in standing if state.tests.origin(item.id) == "given"]
    tolerated = frozenset(item.id for item in given if item.outcome in ("skipped", "xfailed"))
    if (
        not any(item.phase == "collect" for item in on_stub.failures)
        and on_stub.ending == "finished"
    ):
        state.expected = Expectation(
            ids=frozenset(item.id for item in standing), tolerated=tolerated
        )
    red = [item.id for item in standing if item.outcome in ("failed", "error")]
    passing = [item.id for item in on_stub.tests if item.outcome == "passed"]
    green = [item for item in passing if state.tests.stands(item)]
    state.red_phase = RedPhase(
        reached=state.expected is not None and not green,
        failed=len(red),
        passing_on_stub=tuple(passing),
        tolerated=tuple(sorted(tolerated)),
    )


def _red_phase(state: RunState) -> RedPhase:
    assert state.red_phase is not None
    return state.red_phase


def _more(wrong: Complaints) -> str:
    rest = len(wrong.all) - 1
    return f" (and {rest} more)" if rest else ""
