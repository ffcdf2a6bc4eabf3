"""Search-based repair: one edit of a module that makes its failing tests pass."""

import ast
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile

from greenloop.errors import InputError
from greenloop.files import check_python
from greenloop.records import Expectation, SearchResult, TestRun
from greenloop.repair.context import CandidateEdit, Edits
from greenloop.repair.fault_localization import FaultLocalization
from greenloop.repair.hints import extract_hints, find_missing_import
from greenloop.repair.operators import generate_edits
from greenloop.repair.ranking import RankedEdit, build_patch, rank_edits, split_special_cases
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.trials.patches import MIN_COLLECT_SECONDS, PatchRuns, PatchTrialPlan
from greenloop.sandbox.work.trials.runs import BaselineResult, ModuleEdit
from greenloop.syntax.bytecode import CompilationUnits
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.syntax.source import Source
from greenloop.testsuite import TestFile

DEFAULT_MAX_PATCHES = 4  # each takes a run of all tests, and the first is the likeliest
_UNSUPPORTED_RUN = re.compile("cannot be collected|other tests|no test loads|broke off")
_MIN_TEST_SECONDS, _TEST_TIME_FACTOR, _MAX_TIME_SHARE = 0.25, 10, 0.1
_SCORE_MARGIN = 0.9  # edits worse than the best passing one by more than this are not tried
_SCORE_MARGIN_FOR_HANGS = 0.3  # each edit that does not help costs a timeout
_MIN_VERIFIED = 2  # candidates that are verified even if the time is over
_MAX_GENERATED = 200_000
_FIRST_BATCH_SIZE, _NEXT_BATCH_SIZE = 1200, 3000
# Reserved for ordinary runs of the candidates: a share of the time, at most some seconds.
_VERIFICATION_SHARE, _VERIFICATION_SECONDS = 0.25, 3.0


def search_patches(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    run: TestRun,
    expected: Expectation | None = None,
    seconds: float = 20.0,
    max_patches: int = DEFAULT_MAX_PATCHES,
) -> SearchResult:
    """Return plausible patches of `code`, best first; `run` is its failing run on `tests`.

    Each patch has passed an ordinary run that reported the tests in `expected`. The search takes
    about `seconds` of CPU time on each core and stops early when `max_patches` were found. It is
    deterministic if the time is enough. Source that does not parse ends the search without an error.
    Raises SandboxError: the sandbox cannot run anything.
    """
    started = time.monotonic()
    if run.passed:
        return SearchResult(ended="the tests pass")
    if run.failures and not run.failures[0].test:
        return SearchResult(ended="pytest did not start")
    if missing := find_missing_import(run, code):
        return SearchResult(ended=f"the tests cannot be imported: {missing}")
    try:
        check_python(code, "the code is", ast.PyCF_ONLY_AST)
    except InputError as error:
        return SearchResult(ended=str(error))
    work = _PatchSearch(sandbox, code, tuple(tests), module, expected, seconds, max_patches)
    found = work.execute(ast.parse(code), run)
    return found.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


@dataclass
class _PatchSearch:
    _sandbox: Sandbox
    _code: str
    _tests: tuple[TestFile, ...]
    _module: str
    _expected: Expectation | None
    _seconds: float
    _max_patches: int
    _is_interrupted: bool = False
    _breaks_import: bool = False
    _collect_s: float = MIN_COLLECT_SECONDS
    _spent_s: float = field(default_factory=lambda: -time.thread_time())  # by other threads

    def _remaining_s(self) -> float:
        return self._seconds - self._spent_s - time.thread_time()

    def execute(self, tree: ast.Module, run: TestRun) -> SearchResult:
        source = Source(self._code)
        hints = extract_hints(run, self._module)
        reached = self._measure_reached_lines(run)
        try:
            localization = FaultLocalization(tree, reached, hints)
            found = self._limit(
                generate_edits(tree, source, hints, score_line=localization.score_line)
            )
            ranked = rank_edits(found, self._code, localization)
        except PARSE_ERRORS as error:
            return SearchResult(ended=f"the code cannot be edited: {error}")
        if self._is_interrupted:
            return self._build_result([], 0, len(ranked))
        if not ranked:
            return SearchResult(ended="there is nothing to change")
        if not reached and not self._breaks_import:
            return self._try_one_by_one(ranked)
        margin = _SCORE_MARGIN_FOR_HANGS if hints.has_timeout else _SCORE_MARGIN

        common, special = split_special_cases(ranked, hints.expected_values, self._code)
        return self._try_stages((common, special), CompilationUnits(tree, source), reached, margin)

    def _limit(self, edits: Edits) -> Edits:
        """Yield edits for at most half of the time that is left: a large module has millions."""
        left_s = self._remaining_s() / 2

        def goes_on(_: CandidateEdit) -> bool:
            self._is_interrupted |= self._sandbox.is_interrupted
            return not self._is_interrupted and self._remaining_s() > left_s

        return takewhile(goes_on, islice(edits, _MAX_GENERATED))

    def _try_stages(
        self,
        stages: Sequence[list[RankedEdit]],
        units: CompilationUnits,
        reached: tuple[BaselineResult, ...],
        margin: float,
    ) -> SearchResult:
        """Try the edits of each stage until one has a patch that passes, or the time is over."""
        tried = generated = 0
        kept: list[RankedEdit] = []
        for edits in stages:
            generated += len(edits)
            runs = self._try_in_batches(units, edits, reached, margin)
            is_unsupported = _UNSUPPORTED_RUN.search(runs.error) and not runs.tried_count
            if is_unsupported and not self._is_interrupted:
                return self._try_one_by_one(edits)
            tried += runs.tried_count
            passing = [edits[number] for number in runs.passing]
            kept, _ = self._verify_candidates(passing, _MIN_VERIFIED)
            if kept or self._is_interrupted or self._remaining_s() <= 0:
                break
        return self._build_result(kept, tried, generated)

    def _measure_reached_lines(self, run: TestRun) -> tuple[BaselineResult, ...]:
        """Return which lines each test reaches; () where that cannot be measured, or forks fail."""
        durations = [item.duration_s for item in run.tests if item.outcome == "passed"]
        remaining_s = self._remaining_s()
        max_test_s = max(_MIN_TEST_SECONDS, _TEST_TIME_FACTOR * max(durations, default=0.0))
        self._collect_s += 2 * run.cpu_s  # includes the collection
        max_test_s = min(max_test_s, max(_MIN_TEST_SECONDS, _MAX_TIME_SHARE * remaining_s))
        found = self._sandbox.measure_tests(
            self._code,
            self._tests,
            module=self._module,
            max_cpu_s=max_test_s,
            budget_s=remaining_s / 2,
            max_collect_s=self._collect_s,
        )
        self._spent_s += found.cpu_s
        self._is_interrupted |= "(interrupted" in found.error
        self._breaks_import = "cannot be collected" in found.error
        ends = {item.outcome for item in found.tests}
        is_other = bool(durations) and "passed" not in ends  # forks differ, e.g. in an event loop
        return found.tests if ends & {"failed", "timeout"} and not is_other else ()

    def _run_patches(
        self, edits: Sequence[ModuleEdit], plan: PatchTrialPlan, budget_s: float
    ) -> PatchRuns:
        runs = self._sandbox.run_patches(
            *(self._code, self._tests, edits), module=self._module, plan=plan, budget_s=budget_s
        )
        self._spent_s += runs.cpu_s
        self._is_interrupted |= "(interrupted" in runs.error
        return runs

    def _try_in_batches(
        self,
        units: CompilationUnits,
        ranked: Sequence[RankedEdit],
        reached: tuple[BaselineResult, ...],
        margin: float,
    ) -> PatchRuns:
        """Try the edits in batches until one passes; `passing` are indexes of `ranked`.

        The first batch is small: most repairs are among the first edits.
        """
        kept_s = min(_VERIFICATION_SECONDS, _VERIFICATION_SHARE * self._remaining_s())
        done, tried, size = 0, 0, _FIRST_BATCH_SIZE
        runs = PatchRuns()
        while done < len(ranked) and (remaining_s := self._remaining_s() - kept_s) > 0:
            batch = ranked[done : done + size]
            edits = [self._to_module_edit(item.edit, units) for item in batch]
            scores = tuple(item.score for item in batch)
            plan = PatchTrialPlan(reached, scores, self._max_patches, margin, self._collect_s)
            runs = self._run_patches(edits, plan, remaining_s)
            tried = done + runs.tried_count
            if runs.passing or runs.error or runs.tried_count < len(batch):
                break
            done, size = done + size, _NEXT_BATCH_SIZE
        passing = tuple(done + number for number in runs.passing)
        return PatchRuns(passing, tried, runs.error)

    def _to_module_edit(self, edit: CandidateEdit, units: CompilationUnits) -> ModuleEdit:
        unit = units.find_enclosing(edit.start, edit.end) or (0, len(self._code), 1, "")
        return ModuleEdit(edit.start, edit.end, edit.text, unit, (edit.line, edit.line))

    def _verify_candidates(
        self, candidates: Sequence[RankedEdit], min_tried: int
    ) -> tuple[list[RankedEdit], int]:
        """Return the candidates that pass an ordinary run, and how many were tried in time."""
        kept: list[RankedEdit] = []
        for number, item in enumerate(candidates):
            is_late = self._remaining_s() <= 0 and number >= min_tried
            if is_late or self._is_interrupted or len(kept) >= self._max_patches:
                return kept, number
            run = self._sandbox.run_tests(
                item.edit.apply_to(self._code),
                self._tests,
                module=self._module,
                expected=self._expected,
            )
            self._spent_s += run.cpu_s
            self._is_interrupted |= run.ending == "interrupted"
            if run.passed:
                kept.append(item)
        return kept, len(candidates)

    def _try_one_by_one(self, ranked: Sequence[RankedEdit]) -> SearchResult:
        """Try each edit with an ordinary run, where the tests cannot be forked."""
        kept, tried = self._verify_candidates(ranked, 0)
        return self._build_result(kept, tried, len(ranked))

    def _build_result(self, kept: Sequence[RankedEdit], tried: int, generated: int) -> SearchResult:
        if self._is_interrupted:
            ended = "interrupted"
        elif tried >= generated:
            ended = "all tried"
        else:
            ended = "enough found" if kept and self._remaining_s() > 0 else "time"
        patches = tuple(build_patch(item, self._code, self._module) for item in kept)
        return SearchResult(patches=patches, tried=tried, generated=generated, ended=ended)
