"""Grade of a change whose tests pass."""

from __future__ import annotations

from greenloop.events import CodeGraded
from greenloop.project.integrity import list_public_changes
from greenloop.records import Evidence, TestRun
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.workspace import ChangeWorkspace


async def grade_change(
    space: ChangeWorkspace, suite: ChangeSuite, patch: str, result: TestRun
) -> None:
    """Set the evidence of a green change."""
    state, changes = space.run.state, space.apply(patch)
    if state.change:
        public = list_public_changes(space.tree.texts, changes)
        state.change = state.change.model_copy(update={"public_changed": public})
    state.evidence = Evidence(read_against_text=True, thresholds=state.plan.thresholds)
    space.run.emit(CodeGraded(state.evidence))
