"""A search for single edits that make a red module's tests pass."""

from __future__ import annotations

import ast
import difflib
import re
import time
from collections.abc import Sequence

from greenloop.grading.mutation.bytecode import CompilationUnits
from greenloop.records import Expectation, Patch, SearchResult, TestRun
from greenloop.repair.fault_localization import FaultLocalization
from greenloop.repair.generator import generate_edits
from greenloop.repair.hints import extract_hints
from greenloop.repair.patch_comparison import PatchComparison, compare_patches
from greenloop.repair.ranking import RankedEdit, rank_edits
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.mutants import ModuleEdit
from greenloop.sandbox.work.patches import BaselineResult, PatchRuns, PatchTrialPlan
from greenloop.syntax.source import Source
from greenloop.testsuite import TestFile

DEFAULT_MAX_PATCHES = 8
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)
_UNSUPPORTED_RUN = re.compile("cannot be collected|other tests|do not import|broke off")
_MIN_TEST_SECONDS, _TEST_TIME_FACTOR, _MAX_TIME_SHARE = 0.25, 10, 0.1
_SCORE_MARGIN = (
    0.9  # what is so much worse than the best that was found would not come first anyway
)
_SCORE_MARGIN_FOR_HANGS = 0.3  # there each edit that does not help costs a time-out
_MIN_VERIFIED = 2  # are verified even where the time is over
_FIRST_BATCH_SIZE, _NEXT_BATCH_SIZE = 1200, 3000
_VERIFICATION_SHARE = 0.25  # of the time is kept for ordinary runs of what was found


def search_patches(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    run: TestRun,
    expected: Expectation | None = None,
    seconds: float = 20.0,
    seed: int = 0,
    max_patches: int = DEFAULT_MAX_PATCHES,
) -> SearchResult:
    """Plausible patches of `code`, best first; `run` is its red run on `tests`.

    Each has passed an ordinary run that reported what is `expected`. It takes about `seconds` of
    the clock, stops early when `enough` were found, and where the time is enough finds the same
    for the same arguments. Odd source is a reason to end, not an error.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    started = time.monotonic()
    if run.passed:
        return SearchResult(ended="the tests pass")
    try:
        tree = ast.parse(code)
    except _PARSE_ERRORS as error:
        return SearchResult(ended=f"the code cannot be read: {error}")
    work = _PatchSearch(sandbox, code, tuple(tests), module, expected, started + seconds)
    found = work.execute(tree, run, seed, max_patches)
    return found.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


class _PatchSearch:
    def __init__(
        self,
        sandbox: Sandbox,
        code: str,
        tests: tuple[TestFile, ...],
        module: str,
        expected: Expectation | None,
        deadline: float,
    ) -> None:
        self._sandbox, self._code, self._tests = sandbox, code, tests
        self._module, self._expected = module, expected
        self._deadline = deadline
        self._source = Source(code)
        self._is_interrupted = False

    def _remaining_s(self) -> float:
        return self._deadline - time.monotonic()

    def execute(self, tree: ast.Module, run: TestRun, seed: int, max_patches: int) -> SearchResult:
        known = extract_hints(run, self._module)
        reached = self._measure_reached_lines(run)
        try:
            found = list(generate_edits(tree, self._source, known))
            suspicion = FaultLocalization(tree, reached, known)
        except _PARSE_ERRORS as error:
            return SearchResult(ended=f"the code cannot be edited: {error}")
        order = rank_edits(found, self._code, suspicion, seed)
        if not order:
            return SearchResult(ended="there is nothing to change")
        if not reached:
            return self._try_one_by_one(order, max_patches, seed)
        margin = _SCORE_MARGIN_FOR_HANGS if known.has_timeout else _SCORE_MARGIN
        runs = self._try_in_batches(tree, order, reached, max_patches, margin)
        if (
            _UNSUPPORTED_RUN.search(runs.error)
            and not runs.tried_count
            and not self._is_interrupted
        ):
            return self._try_one_by_one(order, max_patches, seed)
        kept = self._verify_candidates(
            [order[number] for number in sorted(runs.passing)], max_patches
        )
        return self._build_result(kept, runs.tried_count, len(order), max_patches, seed)

    def _measure_reached_lines(self, run: TestRun) -> tuple[BaselineResult, ...]:
        """What each test reaches; () where that cannot be found out."""
        sound = [item.duration_s for item in run.tests if item.outcome == "passed"]
        most_s = max(_MIN_TEST_SECONDS, _TEST_TIME_FACTOR * max(sound, default=0.0))
        left_s = self._remaining_s()
        most_s = min(most_s, max(_MIN_TEST_SECONDS, _MAX_TIME_SHARE * left_s))
        runs = self._run_patches([], None, most_s, left_s / 2)
        failing = any(item.outcome in ("failed", "timeout") for item in runs.baseline)
        return runs.baseline if failing and not runs.error else ()

    def _run_patches(
        self,
        splices: Sequence[ModuleEdit],
        trying: PatchTrialPlan | None,
        max_test_s: float,
        budget_s: float,
    ) -> PatchRuns:
        runs = self._sandbox.run_patches(
            self._code,
            self._tests,
            splices,
            module=self._module,
            plan=trying,
            max_cpu_s=max_test_s,
            budget_s=max(0.1, budget_s),
        )
        self._is_interrupted |= "(interrupted" in runs.error
        return runs

    def _try_in_batches(
        self,
        tree: ast.Module,
        order: Sequence[RankedEdit],
        reached: tuple[BaselineResult, ...],
        max_patches: int,
        margin: float,
    ) -> PatchRuns:
        """A few at first, then more: what comes late is seldom needed. Places are in `order`."""
        units = CompilationUnits(tree, self._source)
        until = time.monotonic() + (1 - _VERIFICATION_SHARE) * self._remaining_s()
        done, tried, size = 0, 0, _FIRST_BATCH_SIZE
        runs = PatchRuns()
        while done < len(order) and (left_s := until - time.monotonic()) > 0:
            some = order[done : done + size]
            splices = [self._to_splice(item, units) for item in some]
            scores = tuple(item.score for item in some)
            trying = PatchTrialPlan(reached, scores, max_patches, margin)
            runs = self._run_patches(splices, trying, 0.0, left_s)
            tried = done + runs.tried_count
            if runs.passing or runs.error or runs.tried_count < len(some):
                break
            done, size = done + size, _NEXT_BATCH_SIZE
        passing = tuple(done + number for number in runs.passing)
        return PatchRuns(passing, tried, reached, runs.error)

    def _to_splice(self, item: RankedEdit, units: CompilationUnits) -> ModuleEdit:
        edit = item.edit
        unit = units.find_enclosing(edit.start, edit.end) or (0, len(self._code), 1, "")
        return ModuleEdit(edit.start, edit.end, edit.text, unit, (edit.line, edit.line))

    def _verify_candidates(
        self, candidates: Sequence[RankedEdit], max_patches: int
    ) -> list[RankedEdit]:
        """Those that pass an ordinary run, as far as the time goes."""
        kept: list[RankedEdit] = []
        for number, item in enumerate(candidates):
            late = self._remaining_s() <= 0 and number >= _MIN_VERIFIED
            if late or self._is_interrupted or len(kept) >= max_patches:
                break
            if self._verify_candidate(item):
                kept.append(item)
        return kept

    def _verify_candidate(self, item: RankedEdit) -> bool:
        run = self._sandbox.run_tests(
            item.edit.apply_to(self._code),
            self._tests,
            module=self._module,
            expected=self._expected,
        )
        self._is_interrupted |= run.ending == "interrupted"
        return run.passed

    def _try_one_by_one(
        self, order: Sequence[RankedEdit], max_patches: int, seed: int
    ) -> SearchResult:
        """Without the help of what forks tests: an ordinary run for each."""
        kept: list[RankedEdit] = []
        tried = 0
        for item in order:
            if self._remaining_s() <= 0 or self._is_interrupted or len(kept) >= max_patches:
                break
            tried += 1
            if self._verify_candidate(item):
                kept.append(item)
        return self._build_result(kept, tried, len(order), max_patches, seed)

    def _build_result(
        self, kept: Sequence[RankedEdit], tried: int, generated: int, max_patches: int, seed: int
    ) -> SearchResult:
        apart = None if self._is_interrupted else self._compare_patches(kept, seed)
        order: Sequence[RankedEdit] = apart.order if apart else kept
        agreeing: Sequence[float | None] = apart.agreement if apart else [None] * len(kept)
        if self._is_interrupted:
            ended = "interrupted"
        elif tried >= generated:
            ended = "all tried"
        else:
            ended = "enough found" if kept and self._remaining_s() > 0 else "time"
        return SearchResult(
            patches=tuple(
                build_patch(item, self._code, self._module, share)
                for item, share in zip(order, agreeing, strict=True)
            ),
            tried=tried,
            generated=generated,
            ended=ended,
            disagreements=apart.disagreements if apart else (),
        )

    def _compare_patches(self, kept: Sequence[RankedEdit], seed: int) -> PatchComparison | None:
        return compare_patches(
            self._sandbox,
            self._code,
            self._tests,
            self._module,
            kept,
            seed=seed,
            remaining_s=self._remaining_s,
        )


def build_patch(
    ranked_edit: RankedEdit, code: str, module: str, agreeing: float | None = None
) -> Patch:
    """The record of one edit that passed."""
    changed = ranked_edit.edit.apply_to(code)
    name = f"{module}.py"
    lines = (code.splitlines(), changed.splitlines())
    return Patch(
        code=changed,
        diff="\n".join(difflib.unified_diff(*lines, name, name, lineterm="")),
        change=ranked_edit.edit.description,
        line=ranked_edit.edit.line,
        suspicion=round(ranked_edit.suspicion, 4),
        distance=round(ranked_edit.edit.cost, 2),
        number=ranked_edit.rank,
        agreeing=agreeing,
    )
