"""The tests' side of the beginning: generated from the contract alone, and made to earn trust."""

from __future__ import annotations

from dataclasses import replace

from greenloop.autofix import add_missing_imports, apply_free_fixes
from greenloop.errors import InvalidResponseError
from greenloop.events import EventSink, Notice, RedPhaseDone
from greenloop.records import Contract, Expectation, GeneratedTests, Origin, RedPhase, TestRun
from greenloop.specification.example_tests import render_example_tests
from greenloop.testsuite import Suite
from greenloop.testsuite.quality_gates import (
    Complaints,
    find_broken_on_stub,
    find_complaints,
    find_green_on_stub,
    find_returning_tests,
    find_skipping_tests,
)
from greenloop.testsuite.stubs import build_stub
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import RunState

STUB_RUN_NAME = "tests on a stub"


async def generate_and_gate_tests(kit: Toolkit, state: RunState, emit: EventSink) -> None:
    """The suite, each test of it seen to fail on a stub.

    Complaints go back to the model once; what still proves nothing then is set aside.

    Raises:
        UnusableAnswerError: no test is left.
        GreenloopError: a call or the sandbox failed.
    """
    generated = await kit.generate_tests(state.agreed_contract)
    suite = _build_suite(state, generated)
    on_stub = await _run_on_stub(kit, state, emit, suite)
    wrong = find_complaints(state.agreed_contract, suite, on_stub)
    if wrong.all:
        emit(Notice(f"the tests were sent back: {wrong.all[0]}" + _format_remaining_count(wrong)))
        suite, on_stub, wrong = await _regenerate(kit, state, emit, suite, on_stub, wrong)
    if wrong.fatal:
        suite, on_stub = await _fall_back_to_given_tests(kit, state, emit, suite, wrong)
    state.suite = drop_rejected_tests(suite, on_stub, "generated")
    _record_red_phase(state, on_stub)
    emit(RedPhaseDone(_require_red_phase(state), len(state.expected.ids) if state.expected else 0))


def _build_suite(state: RunState, generated: GeneratedTests) -> Suite:
    contract = state.agreed_contract
    return Suite(
        module=contract.module,
        generated=apply_free_fixes(generated.code, is_test=True).code,
        examples=render_example_tests(contract.module, contract.examples),
        user_files=tuple(item.as_test_file() for item in state.request.given),
        held_out=generated.held_out,
    )


async def _run_on_stub(kit: Toolkit, state: RunState, emit: EventSink, suite: Suite) -> TestRun:
    return await run_suite(
        kit,
        state,
        emit,
        build_contract_stub(state.agreed_contract),
        suite,
        None,
        STUB_RUN_NAME,
        brief=True,
    )


def build_contract_stub(contract: Contract) -> str:
    """The contract's stub, with the imports that its interface forgot."""
    return add_missing_imports(build_stub(contract.interface))[0]


async def _regenerate(
    kit: Toolkit,
    state: RunState,
    emit: EventSink,
    suite: Suite,
    on_stub: TestRun,
    wrong: Complaints,
) -> tuple[Suite, TestRun, Complaints]:
    """The second version of the tests, unless it is worse than the first."""
    again = await kit.generate_tests(state.agreed_contract, wrong.all, suite.generated)
    second = _build_suite(state, again)
    if not second.held_out:
        second = replace(second, held_out=suite.held_out)
    second_on_stub = await _run_on_stub(kit, state, emit, second)
    still_wrong = find_complaints(state.agreed_contract, second, second_on_stub)
    if still_wrong.fatal and not wrong.fatal:
        return suite, on_stub, wrong
    return second, second_on_stub, still_wrong


async def _fall_back_to_given_tests(
    kit: Toolkit, state: RunState, emit: EventSink, suite: Suite, wrong: Complaints
) -> tuple[Suite, TestRun]:
    """The person's own tests and examples alone, where there are any."""
    kept = replace(suite, generated="")
    if not kept.files:
        raise InvalidResponseError(f"generate_tests: no usable tests: {wrong.fatal[0]}")
    state.notes.append(f"generated tests set aside: {wrong.fatal[0]}")
    return kept, await _run_on_stub(kit, state, emit, kept)


def drop_rejected_tests(suite: Suite, on_stub: TestRun, origin: Origin) -> Suite:
    """Without tests of one origin that prove nothing, are broken, or may skip."""
    reasons = dict.fromkeys(find_green_on_stub(suite, on_stub), "passes on a stub: proves nothing")
    reasons |= {
        name: f"is broken: {why}" for name, why in find_broken_on_stub(suite, on_stub).items()
    }
    reasons |= dict.fromkeys(find_skipping_tests(suite), "may skip: gives no verdict")
    written = (item for _, item in suite.functions)
    reasons |= dict.fromkeys(
        find_returning_tests(written), "returns a value instead of asserting it"
    )
    for name, why in reasons.items():
        if suite.origin(name) == origin:
            suite = suite.drop(name, why, disputed=False)
    return suite


def _record_red_phase(state: RunState, on_stub: TestRun) -> None:
    """What later runs must report, as far as the stub told; and how the red phase went."""
    standing = [item for item in on_stub.tests if state.tests.is_active(item.id)]
    if not state.tests.functions:
        raise InvalidResponseError("generate_tests: no test is left that fails on a stub")
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
    green = [item for item in passing if state.tests.is_active(item)]
    state.red_phase = RedPhase(
        reached=state.expected is not None and not green,
        failed=len(red),
        passing_on_stub=tuple(passing),
        tolerated=tuple(sorted(tolerated)),
    )


def _require_red_phase(state: RunState) -> RedPhase:
    assert state.red_phase is not None
    return state.red_phase


def _format_remaining_count(wrong: Complaints) -> str:
    rest = len(wrong.all) - 1
    return f" (and {rest} more)" if rest else ""
