"""Tolerated skips: of tests that skip, or are expected to fail, whatever the code does."""

from functools import partial

from greenloop.records import Expectation, TestOutcome, TestRun
from greenloop.records.pytest_run import MARKED_OUTCOMES
from greenloop.sandbox import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite.stubs import with_empty_bodies
from greenloop.threads import complete_in_thread
from greenloop.workflow.state import RunState


async def tolerate_skips(sandbox: Sandbox, state: RunState, run: TestRun) -> TestRun:
    """Return the run with those skips tolerated that also occur with empty function bodies.

    Skips by the module itself never are. With empty bodies, a project's test that its own file
    skips may also fail first or not load, and a test marked as xfail may fail in another way.
    """
    suite = state.tests
    path = sandbox.get_path(suite.module)
    marked = [item for item in run.tests if item.outcome in MARKED_OUTCOMES]
    skipped = [item for item in marked if not _is_file(path, item.skipped_by)]
    if run.passed or run.failures or run.ending != "finished" or not skipped:
        return run
    try:
        source = with_empty_bodies(state.candidates.current.code)
    except (SyntaxError, RecursionError, MemoryError):
        return run
    work = partial(sandbox.run_tests, source, suite.files, module=suite.module)
    emptied = (await complete_in_thread(work, sandbox.interrupt_runs)).outcomes
    is_project = isinstance(sandbox, ProjectSandbox)

    def is_own(item: TestOutcome) -> bool:
        after = emptied.get(item.id)
        if after in ("passed", "skipped", "xfailed"):
            return after != "passed"
        if item.outcome == "skipped":
            return is_project and (bool(item.skipped_by) or after is None)
        found = suite.find(item.id)
        return found is not None and found[1].can_skip

    tolerated = frozenset(item.id for item in skipped if is_own(item))
    state.expected = Expectation(ids=frozenset(run.outcomes), tolerated=tolerated)
    return run.model_copy(update={"tolerated": tolerated})


def _is_file(path: str, place: str) -> bool:
    """Return whether a place is the project's file at `path`, or its copy in site-packages."""
    _, installed, name = place.rpartition("/site-packages/")
    return place == path or (bool(installed) and f"/{path}".endswith(f"/{name}"))
