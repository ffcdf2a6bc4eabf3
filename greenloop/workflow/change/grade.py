"""Grade of a green change, with its public changes and the tests of its lines."""

from collections.abc import Iterator, Mapping

from greenloop.events import CodeGraded
from greenloop.events.progress import create_thread_safe_sink
from greenloop.project.changed_lines import find_changed_lines
from greenloop.project.grading import ChangedLines, grade_lines
from greenloop.project.integrity import list_public_changes
from greenloop.project.runner import ProjectRunner
from greenloop.records import Baseline, Evidence
from greenloop.sandbox import Sandbox
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.workspace import ChangeWorkspace

_MAX_SHOWN_TESTS = 8  # beside a line


async def grade_change(space: ChangeWorkspace, suite: ChangeSuite, patch: str) -> None:
    """Set the evidence of a green change, its public changes, and the tests of its lines.

    Raises SandboxError: the sandbox cannot run anything.
    """
    run, state, changes = space.run, space.run.state, space.apply(patch)
    lines = {
        path: find_changed_lines(space.tree.texts.get(path, ""), text)[1]
        for path, text in changes.items()
        if text is not None
    }

    sink = create_thread_safe_sink(run.emit)

    def work(box: Sandbox) -> tuple[Evidence, Baseline]:
        runner = ProjectRunner(box, space.tree.with_changes({**changes, **suite.files}))
        after = runner.measure_baseline()
        change = ChangedLines(
            *(runner, lines, after, sorted(suite.ids), state.plan),
            interface=state.agreed_contract.interface,
            held_out=suite.held_out,
        )
        return grade_lines(change, sink), after

    with state.measure_time("grading_s"):
        evidence, after = await run.call_in_sandbox(work)
    untested = tuple(_find_untested(space, suite))
    more = {"red_phase": state.red_phase, "requirements_untested": untested}
    state.evidence = evidence.model_copy(update={**more, "read_against_text": True})
    if state.change:
        tests = {path: dict(_list_tests(after, path, lines[path], suite)) for path in lines}
        public = list_public_changes(space.tree.texts, changes)
        found = {"public_changed": public, "tests_by_line": tests}
        state.change = state.change.model_copy(update=found)
    run.emit(CodeGraded(state.evidence))


def _find_untested(space: ChangeWorkspace, suite: ChangeSuite) -> Iterator[str]:
    """Yield the requirements that no test names; the user's own tests need not name any."""
    contract = space.run.state.agreed_contract
    named = {item for test in suite.functions.values() for item in test.requirements}
    if not suite.is_given:
        yield from (item.id for item in contract.requirements if item.id not in named)
        yield from (i.id for i in contract.keep if i.id not in named and not i.tests)


def _list_tests(
    after: Baseline, path: str, lines: set[int], suite: ChangeSuite
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the changed lines with the tests that run them, new ones first."""
    by_line: Mapping[int, tuple[str, ...]] = after.lines.get(path, {})
    for number in sorted(lines & by_line.keys()):
        tests = sorted(by_line[number], key=lambda test: test not in suite.ids)
        more = len(tests) - _MAX_SHOWN_TESTS
        rest = (f"and {more} more",) if more > 0 else ()
        yield number, (*tests[:_MAX_SHOWN_TESTS], *rest)
