"""New findings of a project's own type checker, which are repaired once where they can be."""

import asyncio
from collections.abc import Awaitable, Callable

from greenloop.autofix.project_types import find_new_type_errors
from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.events.progress import progress_span
from greenloop.records import Finding, Review
from greenloop.records.generation import Repair
from greenloop.workflow.change.workspace import ChangeWorkspace

_SUMMARY = "All tests pass. The project's own type checker finds what it did not find before:\n{}"


class TypeCheck:
    """Checks green changes; findings that remain after one repair become warnings of the review."""

    def __init__(
        self, space: ChangeWorkspace, request_repair: Callable[[str], Awaitable[Repair]]
    ) -> None:
        """`request_repair` asks for a repair of the current change, given a summary."""
        self._space, self._request_repair = space, request_repair
        self._has_asked = False
        self._findings: list[Finding] = []

    async def repair(self) -> bool:
        """Return whether new findings led to another candidate."""
        run, state = self._space.run, self._space.run.state
        code = state.candidates.current.code
        with progress_span(run.emit, "mypy"):
            files, changes = self._space.tree.project.all_files, self._space.apply(code)
            found = await asyncio.to_thread(find_new_type_errors, files, changes)
        others = [item for item in state.review.findings if item not in self._findings]
        self._findings = [Finding(line=None, severity="warning", message=item) for item in found]
        state.review = Review(findings=(*others, *self._findings))
        if not found or self._has_asked or state.repairs >= state.repair_phase.limit:
            return False
        self._has_asked = True
        run.notify(f"new finding: {found[0]}")
        meter = run.measure_calls("repair_change")
        try:
            repair = await self._request_repair(_SUMMARY.format("\n".join(found)))
        except (ModelFailure, BudgetExhaustedError) as error:  # the green change stays
            run.notify(f"what the type checker found was not repaired: {error}")
            return False
        if repair.code is None or repair.code == code:
            return False
        state.repairs += 1
        run.add_candidate("review-repair", repair.code, repair.explanation, meter)
        state.green_run = None
        return True
