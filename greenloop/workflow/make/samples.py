"""Further samples of a weak model's code, which come before repairs; and tests that samples agree against.

Candidates are ranked by the text's examples and the user's tests first, then by all tests. A generated test
is the suspect, not the code, where code that passes these examples and a further sample fail it with the same
answer (agreement of code and tests: CodeT, Chen et al. 2022): it is dropped with that reason.
"""

import ast
from collections import Counter

from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.prompts.failure_context import normalize
from greenloop.syntax.parse import parse_or_empty
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.state import Run

_AUTO_SAMPLES = 3  # on the plain road
_SUSPECTS = "generated"


class Sampler:
    """Asks for further samples while tests fail; drops the tests that they agree against."""

    def __init__(self, run: Run) -> None:
        self._run, self._asked = run, 0
        self._repeats: Counter[int] = (
            Counter()
        )  # samples with the code of an attempt, by its number

    @property
    def _limit(self) -> int:
        wanted = self._run.settings.samples
        if wanted == "auto":
            return _AUTO_SAMPLES if self._run.state.road == "plain" else 0
        return wanted

    async def advance(self) -> bool:
        """Add a sample, or drop suspects; return whether the code has to be run again."""
        while self._limit:
            if self._asked and self._drop_suspects():
                return True
            if self._asked == self._limit:
                return False
            if await self._add_sample():
                return True
        return False

    async def _add_sample(self) -> bool:
        """Ask for a sample; return whether it is code that was not there yet."""
        run = self._run
        contract = run.state.agreed_contract
        meter = run.measure_calls("generate_code")
        self._asked += 1
        try:
            made = await run.kit.write_plain_code(contract.text_with_answers, contract, sample=True)
        except (ModelFailure, BudgetExhaustedError) as error:
            run.notify(f"no further sample: {error}")
            self._asked = self._limit
            return False
        outline = _outline(made.code)
        for item in run.state.candidates.attempts:
            if _outline(item.code) == outline:
                self._repeats[item.n] += 1
                return False
        run.add_candidate("generate", made.code, f"sample {self._asked + 1}", meter)
        return True

    def _drop_suspects(self) -> bool:
        """Drop generated tests against which samples agree; return whether that may be green."""
        state = self._run.state
        best = state.candidates.best
        if best is None or best.run is None or not best.run.passed_count:
            return False
        suspects = self._find_suspects(best)
        if best.failing_tests(state.is_active) != suspects:
            return False
        for test in sorted(suspects):
            name = state.tests.name_of(test)
            if name is not None:
                why = "samples of the code agree on another answer"
                state.suite = state.tests.drop(name, why, disputed=False)
        state.candidates.is_active = state.is_active
        state.update_expectation()
        state.candidates.stuck_reason = ""
        return state.candidates.select_best_for_rerun()

    def _find_suspects(self, best: Candidate) -> frozenset[str]:
        """Return the generated tests that the best candidate fails as another sample does."""
        state = self._run.state
        own = _list_answers(best)
        agreeing: Counter[str] = Counter()
        for item in state.candidates.tested_candidates:
            written = item.n - (item.kind == "free-fix")
            answers = _list_answers(item)
            same = (test for test in own if own[test] == answers.get(test))
            agreeing.update(dict.fromkeys(same, 1 + self._repeats[written]))
        return frozenset(
            test
            for test in own
            if agreeing[test] > 1
            and state.is_active(test)
            and state.tests.origin(test) == _SUSPECTS
        )


def _outline(code: str) -> str:
    """Return what two samples share that differ in comments and layout only."""
    return ast.dump(parse_or_empty(code))


def _list_answers(item: Candidate) -> dict[str, str]:
    """Return what a candidate answers where tests demand something else; a crash is no answer."""
    failures = item.run.failures if item.run else ()
    return {
        failure.test: normalize(failure.message)
        for failure in failures
        if failure.exception == "AssertionError"
    }
