"""Further samples of a weak model's code, which come before repairs; and tests that no sample passes.

Candidates are ranked by the text's examples and the user's tests first, then by all tests. A generated test
that every sample fails is the suspect, not the code (dual agreement of code and tests: CodeT, Chen et
al. 2022): it is dropped with that reason.
"""

from __future__ import annotations

import ast

from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.syntax.parse import parse_or_empty
from greenloop.workflow.state import Run

_AUTO_SAMPLES = 3  # on the plain road
_SUSPECTS = "generated"


def _outline(code: str) -> str:
    """Return what two samples share that differ in comments and layout only."""
    return ast.dump(parse_or_empty(code))


class Sampler:
    """Asks for further samples while tests fail; drops the tests that all of them fail."""

    def __init__(self, run: Run) -> None:
        self._run, self._asked, self._has_dropped = run, 0, False

    @property
    def _limit(self) -> int:
        wanted = self._run.settings.samples
        if wanted == "auto":
            return _AUTO_SAMPLES if self._run.state.road == "plain" else 0
        return wanted

    async def advance(self) -> bool:
        """Add a sample, or drop suspects; return whether the code has to be run again."""
        if self._asked < self._limit and await self._add_sample():
            return True
        if self._limit and not self._has_dropped:
            self._has_dropped = True
            return self._drop_suspects()
        return False

    async def _add_sample(self) -> bool:
        run = self._run
        contract = run.state.agreed_contract
        known = {_outline(item.code) for item in run.state.candidates.attempts}
        while self._asked < self._limit:
            self._asked += 1
            meter = run.measure_calls("generate_code")
            try:
                made = await run.kit.write_plain_code(
                    contract.text_with_answers, contract, sample=self._asked
                )
            except (ModelFailure, BudgetExhaustedError) as error:
                run.notify(f"no further sample: {error}")
                return False
            if _outline(made.code) not in known:
                run.add_candidate("generate", made.code, f"sample {self._asked + 1}", meter)
                return True
        return False

    def _drop_suspects(self) -> bool:
        """Drop the generated tests that every sample fails, where a sample passes all others.

        Return whether a candidate may be green by that.
        """
        state = self._run.state
        tested = [item for item in state.candidates.tested_candidates if item.run is not None]
        failing = [item.failing_tests(state.is_active) for item in tested]
        if not failing:
            return False
        everywhere = frozenset.intersection(*failing)
        suspects = {item for item in everywhere if state.tests.origin(item) == _SUSPECTS}
        best = state.candidates.best
        passes_some = best is not None and best.run is not None and best.run.passed_count > 0
        if len({_outline(item.code) for item in tested}) < 2 or not suspects or not passes_some:
            return False
        for test in sorted(suspects):
            name = state.tests.name_of(test)
            if name is not None:
                why = f"all {len(tested)} samples of the code fail it"
                state.suite = state.tests.drop(name, why, disputed=False)
        state.candidates.is_active = state.is_active
        state.update_expectation()
        state.candidates.stuck_reason = ""
        return state.candidates.select_best_for_rerun()
