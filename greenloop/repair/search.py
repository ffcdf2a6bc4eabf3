"""A search for single edits that make a red module's tests pass."""

from __future__ import annotations

import ast
import difflib
import re
import time
from collections.abc import Sequence

from greenloop.grading.mutation.bytecode import Units
from greenloop.records import Expectation, Patch, Search, TestRun
from greenloop.repair.fault_localization import Suspicion
from greenloop.repair.generator import edits
from greenloop.repair.hints import hints
from greenloop.repair.patch_comparison import Apart, told_apart
from greenloop.repair.ranking import Ranked, ranked
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.mutants import Splice
from greenloop.sandbox.work.patches import PatchRuns, Reached, Trying
from greenloop.syntax.source import Source
from greenloop.testsuite import TestFile

ENOUGH = 8
_ODD = (SyntaxError, ValueError, RecursionError, MemoryError)
_COULD_NOT = re.compile("cannot be collected|other tests|do not import|broke off")
_LEAST_TEST_S, _TIMES, _SHARE = 0.25, 10, 0.1
_MARGIN = 0.9  # what is so much worse than the best that was found would not come first anyway
_MARGIN_OF_HANGS = 0.3  # there each edit that does not help costs a time-out
_AT_LEAST = 2  # are verified even where the time is over
_FIRST, _MORE = 1200, 3000
_VERIFYING = 0.25  # of the time is kept for ordinary runs of what was found


def search(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    run: TestRun,
    expected: Expectation | None = None,
    seconds: float = 20.0,
    seed: int = 0,
    enough: int = ENOUGH,
) -> Search:
    """Plausible patches of `code`, best first; `run` is its red run on `tests`.

    Each has passed an ordinary run that reported what is `expected`. It takes about `seconds` of
    the clock, stops early when `enough` were found, and where the time is enough finds the same
    for the same arguments. Odd source is a reason to end, not an error.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    started = time.monotonic()
    if run.passed:
        return Search(ended="the tests pass")
    try:
        tree = ast.parse(code)
    except _ODD as error:
        return Search(ended=f"the code cannot be read: {error}")
    work = _Work(box, code, tuple(tests), module, expected, started + seconds)
    found = work.do(tree, run, seed, enough)
    return found.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


class _Work:
    def __init__(
        self,
        box: Sandbox,
        code: str,
        tests: tuple[TestFile, ...],
        module: str,
        expected: Expectation | None,
        deadline: float,
    ) -> None:
        self._box, self._code, self._tests = box, code, tests
        self._module, self._expected = module, expected
        self._deadline = deadline
        self._source = Source(code)
        self._interrupted = False

    def _left_s(self) -> float:
        return self._deadline - time.monotonic()

    def do(self, tree: ast.Module, run: TestRun, seed: int, enough: int) -> Search:
        known = hints(run, self._module)
        reached = self._reached(run)
        try:
            found = list(edits(tree, self._source, known))
            suspicion = Suspicion(tree, reached, known)
        except _ODD as error:
            return Search(ended=f"the code cannot be edited: {error}")
        order = ranked(found, self._code, suspicion, seed)
        if not order:
            return Search(ended="there is nothing to change")
        if not reached:
            return self._one_by_one(order, enough, seed)
        margin = _MARGIN_OF_HANGS if known.hangs else _MARGIN
        runs = self._tried(tree, order, reached, enough, margin)
        if _COULD_NOT.search(runs.trouble) and not runs.tried and not self._interrupted:
            return self._one_by_one(order, enough, seed)
        kept = self._verified([order[number] for number in sorted(runs.passing)], enough)
        return self._search(kept, runs.tried, len(order), enough, seed)

    def _reached(self, run: TestRun) -> tuple[Reached, ...]:
        """What each test reaches; () where that cannot be found out."""
        sound = [item.duration_s for item in run.tests if item.outcome == "passed"]
        most_s = max(_LEAST_TEST_S, _TIMES * max(sound, default=0.0))
        left_s = self._left_s()
        most_s = min(most_s, max(_LEAST_TEST_S, _SHARE * left_s))
        runs = self._patches([], None, most_s, left_s / 2)
        failing = any(item.outcome in ("failed", "timeout") for item in runs.reached)
        return runs.reached if failing and not runs.trouble else ()

    def _patches(
        self,
        splices: Sequence[Splice],
        trying: Trying | None,
        most_s: float,
        budget_s: float,
    ) -> PatchRuns:
        runs = self._box.run_patches(
            self._code,
            self._tests,
            splices,
            module=self._module,
            trying=trying,
            most_s=most_s,
            budget_s=max(0.1, budget_s),
        )
        self._interrupted |= "(interrupted" in runs.trouble
        return runs

    def _tried(
        self,
        tree: ast.Module,
        order: Sequence[Ranked],
        reached: tuple[Reached, ...],
        enough: int,
        margin: float,
    ) -> PatchRuns:
        """A few at first, then more: what comes late is seldom needed. Places are in `order`."""
        units = Units(tree, self._source)
        until = time.monotonic() + (1 - _VERIFYING) * self._left_s()
        done, tried, size = 0, 0, _FIRST
        runs = PatchRuns()
        while done < len(order) and (left_s := until - time.monotonic()) > 0:
            some = order[done : done + size]
            splices = [self._splice(item, units) for item in some]
            scores = tuple(item.score for item in some)
            trying = Trying(reached, scores, enough, margin)
            runs = self._patches(splices, trying, 0.0, left_s)
            tried = done + runs.tried
            if runs.passing or runs.trouble or runs.tried < len(some):
                break
            done, size = done + size, _MORE
        passing = tuple(done + number for number in runs.passing)
        return PatchRuns(passing, tried, reached, runs.trouble)

    def _splice(self, item: Ranked, units: Units) -> Splice:
        edit = item.edit
        unit = units.around(edit.start, edit.end) or (0, len(self._code), 1, "")
        return Splice(edit.start, edit.end, edit.text, unit, (edit.line, edit.line))

    def _verified(self, candidates: Sequence[Ranked], enough: int) -> list[Ranked]:
        """Those that pass an ordinary run, as far as the time goes."""
        kept: list[Ranked] = []
        for number, item in enumerate(candidates):
            late = self._left_s() <= 0 and number >= _AT_LEAST
            if late or self._interrupted or len(kept) >= enough:
                break
            if self._passes(item):
                kept.append(item)
        return kept

    def _passes(self, item: Ranked) -> bool:
        run = self._box.run_tests(
            item.edit.applied_to(self._code),
            self._tests,
            module=self._module,
            expected=self._expected,
        )
        self._interrupted |= run.ending == "interrupted"
        return run.passed

    def _one_by_one(self, order: Sequence[Ranked], enough: int, seed: int) -> Search:
        """Without the help of what forks tests: an ordinary run for each."""
        kept: list[Ranked] = []
        tried = 0
        for item in order:
            if self._left_s() <= 0 or self._interrupted or len(kept) >= enough:
                break
            tried += 1
            if self._passes(item):
                kept.append(item)
        return self._search(kept, tried, len(order), enough, seed)

    def _search(
        self, kept: Sequence[Ranked], tried: int, generated: int, enough: int, seed: int
    ) -> Search:
        apart = None if self._interrupted else self._apart(kept, seed)
        order: Sequence[Ranked] = apart.order if apart else kept
        agreeing: Sequence[float | None] = apart.agreeing if apart else [None] * len(kept)
        if self._interrupted:
            ended = "interrupted"
        elif tried >= generated:
            ended = "all tried"
        else:
            ended = "enough found" if kept and self._left_s() > 0 else "time"
        return Search(
            patches=tuple(
                patch_of(item, self._code, self._module, share)
                for item, share in zip(order, agreeing, strict=True)
            ),
            tried=tried,
            generated=generated,
            ended=ended,
            disagreements=apart.disagreements if apart else (),
        )

    def _apart(self, kept: Sequence[Ranked], seed: int) -> Apart | None:
        return told_apart(
            self._box, self._code, self._tests, self._module, kept, seed=seed, left_s=self._left_s
        )


def patch_of(item: Ranked, code: str, module: str, agreeing: float | None = None) -> Patch:
    """The record of one edit that passed."""
    changed = item.edit.applied_to(code)
    name = f"{module}.py"
    lines = (code.splitlines(), changed.splitlines())
    return Patch(
        code=changed,
        diff="\n".join(difflib.unified_diff(*lines, name, name, lineterm="")),
        change=item.edit.words,
        line=item.edit.line,
        suspicion=round(item.suspicion, 4),
        distance=round(item.edit.cost, 2),
        number=item.number,
        agreeing=agreeing,
    )
