"""The tests of a report, with their origins and outcomes."""

from collections.abc import Iterator

from greenloop.records import TestEntry, TestRun
from greenloop.workflow.state import RunState


def build_test_entries(state: RunState, result: TestRun | None) -> Iterator[TestEntry]:
    """Yield the tests of a report: run, missing, dropped and held-out ones."""
    suite = state.suite
    if suite is None:
        return
    tests = result.tests if result else ()
    for test in tests:
        if suite.is_active(test.id):
            origin = suite.origin(test.id) if state.request.kind != "check" else "given"
            yield TestEntry(
                id=test.id,
                requirements=suite.requirements(test.id),
                origin=origin,
                outcome=test.outcome,
                duration_s=round(test.duration_s, 6),
                disputed=origin != "given" and suite.name_of(test.id) in state.judged_tests,
            )
    expected = state.expected.ids if state.expected else frozenset()
    for missing in sorted(expected.intersection(result.missing) if result else expected):
        yield TestEntry(
            id=missing,
            requirements=suite.requirements(missing),
            origin=suite.origin(missing),
            outcome="not run",
        )
    for item in suite.dropped:
        yield TestEntry(
            id=f"{suite.file_name}::{item.name}" if suite.file_name else item.name,
            requirements=item.requirements,
            origin=item.origin,
            outcome="dropped",
            disputed=item.disputed,
            judgement=item.reason,
        )
    yield from _build_held_out_entries(state)


def _build_held_out_entries(state: RunState) -> Iterator[TestEntry]:
    """Yield the examples that are still held out: they agreed, or were not called."""
    result = state.evidence.held_out
    for number, item in enumerate(state.active_tests.held_out, 1):
        is_invalid = result is not None and item.call in result.invalid
        outcome = "invalid" if is_invalid else "passed" if result else "not run"
        yield TestEntry(
            id=f"held_out::{number}: {item.call}",
            requirements=(item.requirement,) if item.requirement else (),
            origin="held_out",
            outcome=outcome,
        )
