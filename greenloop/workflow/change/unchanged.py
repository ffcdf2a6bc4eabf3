"""Side effects of a change: calls with other answers than before, judged by the wish."""

from greenloop.errors import BudgetExhaustedError, ModelFailure, SandboxError, SettingsError
from greenloop.events.progress import progress_span
from greenloop.grading.peer.comparison import FoundDifference
from greenloop.project.comparison.before_after import compare_before_after
from greenloop.records import BeforeAfter, ChangePlan, Contract
from greenloop.records.evidence.peer import Ruling
from greenloop.workflow.change.workspace import ChangeWorkspace
from greenloop.workflow.peer.comparison import request_rulings, seed_of
from greenloop.workflow.peer.rulings import OpenDifference

_MAX_JUDGED = 5


async def find_side_effects(
    space: ChangeWorkspace, plan: ChangePlan, patch: str
) -> BeforeAfter | None:
    """Return calls of unchanged functions whose answers differ; None if the sandbox failed.

    The judge decides which differences the wish asks for: for these the earlier answer is wrong.
    """
    run = space.run
    changes, wish = space.apply(patch), plan.contract.specification
    try:
        with progress_span(run.emit, "before and after"), run.state.measure_time("grading_s"):
            found = await run.call_in_sandbox(
                lambda box: compare_before_after(
                    box, space.tree, changes, plan.touches, wish, seed_of(run)
                )
            )
    except SandboxError as error:
        run.notify(f"the code before and after the change is not compared: {error}")
        return None
    return await _judge(space, plan, found) if found.differences else found


async def _judge(space: ChangeWorkspace, plan: ChangePlan, found: BeforeAfter) -> BeforeAfter:
    run, shown = space.run, found.differences[:_MAX_JUDGED]
    differences = [OpenDifference(FoundDifference(i.call, i.code, i.peer)) for i in shown]
    try:
        rulings = await request_rulings(run, write_wish(plan.contract), differences)
    except (ModelFailure, BudgetExhaustedError, SettingsError) as error:
        run.notify(f"differences from the code before the change are not judged: {error}")
        return found
    judged = (
        item.to_record(_restrict(meaning), ruling.because)
        for item, (ruling, meaning) in zip(differences, rulings, strict=True)
    )
    return found.model_copy(update={"differences": (*judged, *found.differences[_MAX_JUDGED:])})


def _restrict(meaning: Ruling) -> Ruling:
    """Return what a ruling means for a change: no wording and no input is free to change."""
    is_free = meaning in ("wording is free", "outside the text")
    return "text does not say" if is_free else meaning


def write_wish(contract: Contract) -> str:
    """Return the text for a judge: the wish, and that everything else stays."""
    kept = "".join(f"\n- {item.text}" for item in contract.keep)
    rest = "\nThis is a change of a program. What the text does not ask for stays as it was."
    return f"{contract.text_with_answers}\n{rest}{kept}"
