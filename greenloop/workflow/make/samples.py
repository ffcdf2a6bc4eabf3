"""Samples of a weak model's code before repairs, and removal of tests by agreement of samples.

A candidate has to pass the text's examples and the user's tests. If such candidates fail generated
tests, samples are requested until two agree (agreement of code and tests: CodeT, Chen et al. 2022).
Tests that demand another answer than most samples give are dropped with that reason: a small
model's tests are wrong more often than its code.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping

from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.prompts.failure_context import normalize
from greenloop.syntax.parse import parse_or_empty
from greenloop.tools.plain_toolkit import PlainToolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.grade_code import run_current_candidate
from greenloop.workflow.state import RepairPhase
from greenloop.workflow.strategy import Strategy

_AUTO_SAMPLES = 3  # on the plain road
_AUTO_SAMPLES_FOR_EXAMPLES = 6  # while no code passes the examples and the user's tests
_SUSPECTS = "generated"

Votes = Mapping[str, Counter[str]]  # by test: number of samples per answer; "": the test passes


class Sampler:
    """Requests for samples until two agree, and removal of the tests that contradict them."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy, self._run, self._asked = strategy, strategy.run, 0
        # Number of further samples with the same code, by the number of the attempt.
        self._repeats: Counter[int] = Counter()

    @property
    def _limit(self) -> int:
        wanted = self._run.settings.samples
        if wanted != "auto":
            return wanted
        state = self._run.state
        if state.road != "plain":
            return 0
        is_enough = any(map(self._passes_what_is_given, state.candidates.tested_candidates))
        return _AUTO_SAMPLES if is_enough else _AUTO_SAMPLES_FOR_EXAMPLES

    async def advance(self) -> bool:
        """Run samples until two agree; return whether the chosen code may be green."""
        if not self._limit:
            return False
        while (agreed := self._find_agreed()) is None and self._asked < self._limit:
            if await self._add_sample():
                await run_current_candidate(self._strategy)
        state, before = self._run.state, self._run.state.suite
        if agreed is not None:
            self._drop_tests_against(agreed)
        chosen = agreed or state.candidates.best
        if chosen is None or chosen.run is None or chosen.failing_tests(state.is_active):
            self._keep_agreed()
            return False
        state.candidates.base = chosen
        # Else the run was red for what no test shows, and would be red again.
        return chosen.run.passed or state.suite is not before

    def _keep_agreed(self) -> None:
        """Keep code unrepaired on which samples agree, if only generated tests contradict it.

        A repair would fit the code to tests that all its samples fail.
        """
        state, tested = self._run.state, self._run.state.candidates.tested_candidates
        reported = (test.id for item in tested if item.run for test in item.run.tests)
        if state.road != "plain" or any(state.tests.origin(i) != _SUSPECTS for i in reported):
            return
        groups: dict[frozenset[tuple[str, str]], dict[int, Candidate]] = defaultdict(dict)
        for item in tested:
            group = groups[frozenset(self._list_answers(item).items())]
            group.setdefault(_number_of_answer(item), item)
        sizes = {key: sum(1 + self._repeats[n] for n in group) for key, group in groups.items()}
        largest = max(sizes, key=lambda key: sizes[key], default=frozenset())
        if sizes.get(largest, 0) > 1:
            state.candidates.best = next(iter(groups[largest].values()))
            state.repair_phase = RepairPhase(0)

    async def _add_sample(self) -> bool:
        """Request a sample; return whether its code is new."""
        run = self._run
        contract = run.state.agreed_contract
        meter = run.measure_calls("generate_code")
        self._asked += 1
        try:
            kit = PlainToolkit.of(run.kit)
            made = await kit.write_code(contract.text_with_answers, contract, sample=True)
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

    def _find_agreed(self) -> Candidate | None:
        """Return a candidate each of whose answers has two votes or more, and no other more."""
        answers = {
            item.n: (item, self._list_answers(item))
            for item in self._run.state.candidates.tested_candidates
            if self._passes_what_is_given(item)
        }
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for test in {test for _, failed in answers.values() for test in failed}:
            for item, failed in answers.values():
                votes[test][failed.get(test, "")] += 1 + self._repeats[_number_of_answer(item)]
        by_failures = sorted(answers.values(), key=lambda pair: len(pair[1]))
        return next((item for item, failed in by_failures if _has_majority(failed, votes)), None)

    def _passes_what_is_given(self, item: Candidate) -> bool:
        """Return whether a candidate fails generated tests alone.

        Unless it passes a test of another origin, it has to pass more tests than it fails.
        """
        state = self._run.state
        failing = item.failing_tests(state.is_active)
        tests = item.run.tests if item.run else ()
        passing = {test.id for test in tests if test.outcome == "passed"}
        is_shown = any(state.tests.origin(test) != _SUSPECTS for test in passing)
        return all(state.tests.origin(test) == _SUSPECTS for test in failing) and (
            is_shown or len(passing) > len(failing)
        )

    def _list_answers(self, item: Candidate) -> dict[str, str]:
        """Return a candidate's answers by failed test; a crash is an answer of its own."""
        state = self._run.state
        failures = item.run.failures if item.run else ()
        return {
            failure.test: (
                normalize(failure.message)
                if failure.exception == "AssertionError"
                else f"attempt {item.n}"
            )
            for failure in failures
            if state.is_active(failure.test)
        }

    def _drop_tests_against(self, agreed: Candidate) -> None:
        state, why = self._run.state, "samples of the code agree on another answer"
        for test in sorted(agreed.failing_tests(state.is_active)):
            state.drop_test(test, why, disputed=False)
        state.candidates.stuck_reason = ""


def _has_majority(failed: Mapping[str, str], votes: Votes) -> bool:
    """Return whether each answer has the votes of two samples, and no other has more."""
    return all(
        1 < counted[failed.get(test, "")] == max(counted.values())
        for test, counted in votes.items()
    )


def _number_of_answer(item: Candidate) -> int:
    """Return the number of the model's attempt, which precedes a candidate of automatic fixes."""
    return item.n - (item.kind == "free-fix")


def _outline(code: str) -> str:
    """Return a dump of the syntax tree, which ignores comments and layout."""
    return ast.dump(parse_or_empty(code))
