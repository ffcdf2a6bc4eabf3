"""Grade of a change whose tests pass."""

from __future__ import annotations

from greenloop.events import CodeGraded
from greenloop.records import Evidence, TestRun
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.workspace import ChangeWorkspace


async def grade_change(
    space: ChangeWorkspace, suite: ChangeSuite, patch: str, result: TestRun
) -> None:
    """Set the evidence of a green change."""
    state = space.run.state
    state.evidence = Evidence(read_against_text=True, thresholds=state.plan.thresholds)
    space.run.emit(CodeGraded(state.evidence))
