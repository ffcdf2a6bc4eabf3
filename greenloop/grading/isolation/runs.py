"""Runs of the scenarios of a test file, in a process of their own, or beside the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from greenloop.grading.context import GradingContext
from greenloop.grading.observation import ObservationRequest, Observed
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.work.scenarios import RowOutcome
from greenloop.testsuite import TestFile
from greenloop.testsuite.scenarios import ScenarioFile

# That of the first run: code whose results hang on the order of a set is unsteady, and forges nothing.
SEED_OF_TESTS = 0
_CRASHED = "(crashed"  # what ends its process has decided to: no limit is reached
_NO_MODULE = "ModuleNotFoundError: "  # a helper module of the tests, which stays behind
Rows = dict[tuple[int, int], RowOutcome]  # by scenario and row


def run_rows(
    context: GradingContext,
    plan: ScenarioFile,
    file: TestFile,
    beside: Sequence[TestFile] = (),
    hash_seed: int = HASH_SEED,
) -> Rows:
    """Return the outcomes of the rows in a process of their own, or beside tests."""
    if not beside:
        request = ObservationRequest(plan.scenario, plan.judge)
        return _combine(context.observe(request, [file], hash_seed=hash_seed))
    box = context.sandbox
    seen = box.observe_scenarios(context.code, context.module, plan.scenario, beside=beside)
    return _combine(Observed(seen, box.judge_scenarios(plan.judge, seen, [file])))


def _combine(observed: Observed) -> Rows:
    """Return the outcomes of the rows.

    Those that ran into a limit are not observable, nor are those in which the code had looked at
    what differs in a sandbox: what it answers then may hold there alone.
    """
    seen = observed.observations
    rows = {(item.scenario, item.row): item for item in observed.outcomes}
    for found in seen.rows:
        key = found.scenario, found.row
        if found.looked and key in rows:
            reason = f"the code looks at {found.looked}, which differs in a sandbox"
            rows[key] = replace(rows[key], outcome="not observable", line=0, reason=reason)
    if not seen.error or (_CRASHED in seen.error and _NO_MODULE not in seen.error):
        return rows
    ended = {(item.scenario, item.row) for item in seen.rows if item.has_ended}
    late = {
        key: replace(rows[key], outcome="not observable", line=0, reason=seen.error)
        for key in rows.keys() - ended
    }
    return rows | late


def is_doubtful(row: RowOutcome) -> bool:
    """Whether a line was judged, and the code's answer there differs or cannot be read.

    An answer that cannot be read may be one that hides: beside the tests it is read then.
    """
    return row.outcome != "agrees" and (row.outcome == "differs" or row.line > 0)


def has_agreed(rows: Rows, key: tuple[int, int]) -> bool:
    return key in rows and rows[key].outcome == "agrees"
