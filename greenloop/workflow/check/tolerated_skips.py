"""Tests that may be skipped: those that skip, or are expected to fail, whatever the code does."""

import re
from functools import partial

from greenloop.records import Expectation, TestRun
from greenloop.records.pytest_run import MARKED_OUTCOMES
from greenloop.sandbox import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import Suite
from greenloop.testsuite.parser import get_function_name
from greenloop.testsuite.stubs import with_empty_bodies
from greenloop.threads import complete_in_thread
from greenloop.workflow.state import RunState

_SKIP = re.compile(r"importorskip|\bskip\(|skipTest\(|SkipTest\b")
_XFAIL = re.compile(r"mark\.xfail|expectedFailure")


async def tolerate_skips(sandbox: Sandbox, state: RunState, run: TestRun) -> TestRun:
    """Let tests skip that do so whatever the functions do, if their text allows it.

    In a project its own helpers and fixtures may skip them, too. A test that is marked as expected
    to fail may also fail there in another way than its mark names.
    """
    skipped = {item.id for item in run.tests if item.outcome in MARKED_OUTCOMES}
    if run.passed or run.failures or run.ending != "finished" or not skipped:
        return run
    suite = state.tests
    try:
        source = with_empty_bodies(state.candidates.current.code)
    except (SyntaxError, RecursionError, MemoryError):
        return run
    work = partial(sandbox.run_tests, source, suite.files, module=suite.module)
    emptied = (await complete_in_thread(work, sandbox.interrupt_runs)).outcomes
    may_skip, may_fail = _list_tolerant_tests(suite)
    constant = {item for item in skipped if emptied.get(item) in ("skipped", "xfailed")}
    if isinstance(sandbox, ProjectSandbox):  # where they may also fail before that, or not load
        unlike = {item for item in skipped if emptied.get(item) != "passed"}
        constant |= {item for item in unlike if _get_name(item) in may_skip}
    else:
        files = {item.name for item in suite.files if _SKIP.search(item.code)}
        constant = {
            item
            for item in constant
            if _get_name(item) in may_skip or item.partition("::")[0] in files
        }
    xfailed = {name for name, outcome in run.outcomes.items() if outcome == "xfailed"}
    red = {item for item in xfailed if emptied.get(item) == "failed"}
    tolerated = frozenset(constant | {item for item in red if _get_name(item) in may_fail})
    state.expected = Expectation(ids=frozenset(run.outcomes), tolerated=tolerated)
    return run.model_copy(update={"tolerated": tolerated})


def _list_tolerant_tests(suite: Suite) -> tuple[set[str], set[str]]:
    """Return the tests that may skip by their text, and those that may be marked to fail."""
    named = [(_get_name(item.name), file, item) for file, item in suite.functions]
    may_skip = {name for name, _, item in named if item.can_skip}
    xfails = {name for name, file, _ in named if _XFAIL.search(file.code)}
    return may_skip, may_skip & xfails


def _get_name(test: str) -> str:
    """Return the name of a test without its class, as other classes may inherit it."""
    return get_function_name(test).rpartition("::")[2]
