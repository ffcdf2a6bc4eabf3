"""Generation of tests from the contract alone, and the red phase: all have to fail on a stub."""

from dataclasses import replace
from functools import partial

from greenloop.autofix import add_missing_imports, apply_free_fixes
from greenloop.errors import (
    BudgetExhaustedError,
    InvalidResponseError,
    ModelFailure,
    UnusableCodeError,
)
from greenloop.events import RedPhaseDone
from greenloop.llm.parsing.completeness import public_names
from greenloop.records import Expectation, Origin, RedPhase, TestRun
from greenloop.records.generation import GeneratedTests
from greenloop.specification.example_tests import render_example_tests
from greenloop.testsuite import Suite
from greenloop.testsuite.held_out_examples import has_enough_usable_examples
from greenloop.testsuite.quality_gates import (
    Complaints,
    find_broken_on_stub,
    find_complaints,
    find_green_on_stub,
    find_returning_tests,
    find_skipping_tests,
)
from greenloop.testsuite.stubs import build_stub
from greenloop.threads import complete_in_thread
from greenloop.workflow.choices import build_answer_tests
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import Run

_STUB_RUN_NAME = "tests on a stub"


async def generate_and_gate_tests(run: Run) -> None:
    """Set the run's suite; each of its tests fails on a stub.

    Complaints are sent back to the model once. Tests that prove nothing after that are dropped.

    Raises:
        UnusableCodeError: no test is left.
        GreenloopError: a call or the sandbox failed.
    """
    state = run.state
    suite = await _build_suite(run, await _request_tests(run))
    if not suite.files:
        raise UnusableCodeError(
            "neither the model's answers nor the text have a test: write an example in the text, such as f(1) -> 2"
        )
    on_stub = await run_on_stub(run, suite)
    wrong = find_complaints(state.agreed_contract, suite, on_stub)
    if wrong.all and suite.generated and run.state.road == "contract":
        rest = f" (and {len(wrong.all) - 1} more)" if len(wrong.all) > 1 else ""
        run.notify(f"the tests were sent back: {wrong.all[0]}{rest}")
        suite, on_stub, wrong = await _regenerate(run, suite, on_stub, wrong)
    if wrong.fatal:  # only the user's tests and the examples are kept
        suite = replace(suite, generated="")
        if not suite.files:
            raise UnusableCodeError(f"no test can be used: {wrong.fatal[0]}")
        run.note(f"generated tests set aside: {wrong.fatal[0]}")
        on_stub = await run_on_stub(run, suite)
    suite = drop_rejected_tests(suite, on_stub, "generated")
    if not suite.functions:
        raise UnusableCodeError("no test can be used: every one passes on a stub")
    state.suite = suite
    state.expected = _build_expectation(suite, on_stub)
    state.red_phase = _build_red_phase(suite, on_stub, state.expected)
    run.emit(RedPhaseDone(state.red_phase, len(state.expected.ids) if state.expected else 0))


async def _request_tests(run: Run) -> GeneratedTests:
    """Return the model's tests; empty if its answers have none."""
    try:
        return await run.kit.generate_tests(run.state.agreed_contract)
    except InvalidResponseError as error:
        run.notify(str(error))
        return GeneratedTests(code="")


async def _build_suite(run: Run, generated: GeneratedTests) -> Suite:
    contract = run.state.agreed_contract
    fix = partial(apply_free_fixes, generated.code, is_test=True)
    fixed = await complete_in_thread(fix)
    return Suite(
        module=contract.module,
        public=frozenset(public_names(contract.interface)),
        generated=fixed.code,
        examples=render_example_tests(contract.module, contract.examples),
        user_files=tuple(item.as_test_file() for item in run.state.request.given),
        held_out=generated.held_out,
    ).with_answers(build_answer_tests(contract))


async def run_on_stub(run: Run, suite: Suite) -> TestRun:
    """Run a suite on the contract's stub, with missing imports added."""
    interface = run.state.agreed_contract.interface
    stub, _ = add_missing_imports(build_stub(interface))
    return await run_suite(run, stub, suite, name=_STUB_RUN_NAME, plain_asserts=True)


async def _regenerate(
    run: Run, suite: Suite, on_stub: TestRun, wrong: Complaints
) -> tuple[Suite, TestRun, Complaints]:
    """Return the second version of the tests, unless it is worse than the first.

    If the second call fails, the first version is kept if it can be used.
    """
    state = run.state
    try:
        again = await run.kit.generate_tests(
            state.agreed_contract,
            wrong.all,
            suite.generated,
            keep_held_out=has_enough_usable_examples(suite.held_out, suite.known),
            keep_tests=wrong.are_of_examples,
        )
    except (ModelFailure, BudgetExhaustedError) as error:
        if wrong.fatal:
            raise
        run.notify(f"the tests stay as they are: {error}")
        return suite, on_stub, wrong
    second = await _build_suite(run, again)
    if len(second.held_out) < len(suite.held_out):
        second = replace(second, held_out=suite.held_out)
    second_on_stub = await run_on_stub(run, second)
    still_wrong = find_complaints(state.agreed_contract, second, second_on_stub)
    is_shorter = len(second.functions) < len(suite.functions)
    is_no_better = len(still_wrong.all) >= len(wrong.all)
    if not wrong.fatal and (still_wrong.fatal or (is_shorter and is_no_better)):
        return suite, on_stub, wrong
    return second, second_on_stub, still_wrong


def drop_rejected_tests(suite: Suite, on_stub: TestRun, origin: Origin) -> Suite:
    """Drop the tests of one origin that prove nothing, are broken, or may skip."""
    reasons = dict.fromkeys(
        find_green_on_stub(suite, on_stub), "passes on a stub, so it proves nothing"
    )
    broken = find_broken_on_stub(suite, on_stub)
    reasons |= {name: f"is broken: {why}" for name, why in broken.items()}
    reasons |= dict.fromkeys(find_skipping_tests(suite), "may skip: gives no verdict")
    returning = find_returning_tests(item for _, item in suite.functions)
    reasons |= dict.fromkeys(returning, "returns a value instead of asserting it")
    for name, why in reasons.items():
        if suite.origin(name) == origin:
            suite = suite.drop(name, why, disputed=False)
    return suite


def _build_expectation(suite: Suite, on_stub: TestRun) -> Expectation | None:
    """Return the tests that later runs must report; None if the stub run was incomplete."""
    is_collected = not any(item.phase == "collect" for item in on_stub.failures)
    if not is_collected or on_stub.ending != "finished":
        return None
    ids = frozenset(item.id for item in on_stub.tests if suite.is_active(item.id))
    skipped = (
        item.id
        for item in on_stub.tests
        if item.outcome in ("skipped", "xfailed") and suite.origin(item.id) == "given"
    )
    return Expectation(ids=ids, tolerated=frozenset(skipped))


def _build_red_phase(suite: Suite, on_stub: TestRun, expected: Expectation | None) -> RedPhase:
    active = [item for item in on_stub.tests if suite.is_active(item.id)]
    return RedPhase(
        reached=expected is not None and all(item.outcome != "passed" for item in active),
        failed=sum(item.outcome in ("failed", "error") for item in active),
        passing_on_stub=tuple(item.id for item in on_stub.tests if item.outcome == "passed"),
        tolerated=tuple(sorted(expected.tolerated)) if expected else (),
    )
