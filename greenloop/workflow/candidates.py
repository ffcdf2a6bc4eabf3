"""Candidates of a run: the best one, the base of the next repair, and whether the run is stuck."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.llm.budget import Budget
from greenloop.prompts.failure_context import failure_signature, normalize
from greenloop.records import Attempt, AttemptKind, Failure, TestRun
from greenloop.testsuite.parser import get_function_name
from greenloop.workflow.storage.request import digest

_MAX_LINES = 5
_MAX_REMARK_CHARS = 200
_MAX_FAILURES = 50
_MAX_TEXT_CHARS = 2000  # of a message, of a test's output, and of a compared value
_MAX_FRAMES = 12
_MAX_LINE_CHARS = 300

IsActive = Callable[[str], bool]


@dataclass(frozen=True)
class Candidate:
    """A version of the code: its source, origin, and test run (None: not run yet)."""

    code: str
    kind: AttemptKind
    remark: str = ""
    run: TestRun | None = None
    n: int = 0

    def failing_tests(self, is_active: IsActive) -> frozenset[str]:
        """Return the active tests that fail on the candidate; `not run` before its run."""
        if self.run is None:
            return frozenset({"not run"})
        return frozenset(item for item in self.run.failing_tests if is_active(item))


@dataclass
class Candidates:
    """All candidates in order. `base` is the one that the next repair starts from."""

    attempts: list[Attempt] = field(default_factory=list)
    tested_candidates: list[Candidate] = field(default_factory=list)
    best: Candidate | None = None
    base: Candidate | None = None
    is_active: IsActive = lambda _test: True  # every test counts until one is dropped
    stuck_reason: str = ""
    locked: frozenset[str] = frozenset()  # the number of these that fail is compared first
    _seen_signatures: set[frozenset[str]] = field(default_factory=set)
    _seen_digests: set[str] = field(default_factory=set)

    @property
    def current(self) -> Candidate:
        """The base; there has to be one."""
        assert self.base is not None
        return self.base

    @property
    def current_tested(self) -> tuple[Candidate, TestRun]:
        """The base and its test run; there have to be both."""
        base = self.current
        assert base.run is not None
        return base, base.run

    def add(self, candidate: Candidate, seconds: float = 0.0, tokens: int = 0) -> Candidate:
        """Add a new candidate, before it is run."""
        n = len(self.attempts) + 1
        self.attempts.append(
            Attempt(
                n=n,
                kind=candidate.kind,
                code_sha256=digest(candidate.code),
                seconds=round(seconds, 3),
                tokens=tokens,
                based_on=self.base.n if self.base else None,
                remark=candidate.remark,
                code=candidate.code,
            )
        )
        self.base = replace(candidate, n=n)
        if self.best is None or self.best.run is None:
            self.best = self.base
        return self.base

    def record_run(self, candidate: Candidate, run: TestRun) -> None:
        """Record a candidate's test run; choose the best one and the base of the next repair."""
        done = replace(candidate, run=run)
        self._update_attempt(done, run)
        others = [item for item in self.tested_candidates if item.n != done.n]
        is_new = len(others) == len(self.tested_candidates)
        reason = self._detect_repetition(done, run)
        self.stuck_reason = reason if is_new and not run.passed else ""
        self.tested_candidates = [*others, done]
        self.base = self._choose_base(done) if is_new else done
        best = self.best
        if best is not None and best.run is not None and best.n != done.n:
            # Fewer failures win; of green candidates the last, made for a reason that no test shows.
            is_better = self._rank(done) < self._rank(best) or self._rank(done) == (0, 0)
            self.best = done if is_better else best
        else:
            self.best = done

    def _rank(self, candidate: Candidate) -> tuple[int, int]:
        """Return the numbers of locked tests and of all tests that it fails."""
        failing = candidate.failing_tests(self.is_active)
        return len(failing & self.locked), len(failing)

    def replace_source(self, candidate: Candidate, code: str) -> Candidate:
        """Replace the source of a candidate that was not run yet."""
        if code == candidate.code:
            return candidate
        index = candidate.n - 1
        changed = {"code_sha256": digest(code), "code": code}
        self.attempts[index] = self.attempts[index].model_copy(update=changed)
        return replace(candidate, code=code)

    def select_best_for_rerun(self) -> bool:
        """Make the best candidate the base if it failed only tests that were dropped since.

        Return whether running it again may give a green run.
        """
        best = self.best
        if best is None or best.run is None or best.run.passed:
            return False
        if best.failing_tests(self.is_active):
            return False
        self.base = best
        return best.run.ending == "finished"

    def _update_attempt(self, done: Candidate, run: TestRun) -> None:
        index = done.n - 1
        counted: dict[str, object] = {
            "passed": run.passed_count,
            "failed": run.failed_count,
            "errors": run.error_count,
            "outcomes": run.outcomes,
        }
        if not run.passed:
            counted |= {
                "failures": truncate_failures(run.failures),
                "ending": run.ending,
                "detail": run.detail,
            }
        self.attempts[index] = self.attempts[index].model_copy(update=counted)

    def _detect_repetition(self, done: Candidate, run: TestRun) -> str:
        """Return whether code or failures were there before, as a reason; '' if they are new."""
        sha, seen = digest(done.code), failure_signature(run)
        same_code, same_failures = sha in self._seen_digests, seen in self._seen_signatures
        self._seen_digests.add(sha)
        self._seen_signatures.add(seen)
        if same_code:
            return "this code was there before"
        return "the same failures as before" if same_failures else ""

    def _choose_base(self, done: Candidate) -> Candidate:
        """Return the new candidate, or the best if the new one breaks tests and ranks no better.

        Green code is no base: its run shows nothing to repair.
        """
        best = self.best
        if best is None or best.run is None or best.run.passed:
            return done
        now, before = done.failing_tests(self.is_active), best.failing_tests(self.is_active)
        if self._rank(done) < self._rank(best) or not now - before:
            return done
        if done.kind == "rewrite" and len(now) == len(before):
            return done
        return best

    def format_attempts(self, exclude: int = 0) -> list[str]:
        """Describe the last attempts that were run, a line each: what was tried, how it failed.

        Attempt number `exclude` is left out, because the prompt shows it in full.
        """
        tried = [item for item in self.tested_candidates if item.n != exclude]
        lines = [self._format_attempt(item, item.run) for item in tried if item.run]
        return lines[-_MAX_LINES:]

    def _format_attempt(self, item: Candidate, run: TestRun) -> str:
        failing = item.failing_tests(self.is_active)
        why = ""
        if run.failures:
            text = f"{run.failures[0].exception}: {run.failures[0].message}"
            why = normalize(text).split("\n")[0][:_MAX_REMARK_CHARS]
        remark = f" ({item.remark})" if item.remark else ""
        names = ", ".join(sorted(get_function_name(name) for name in failing)[:4])
        return f"{item.kind}{remark}: {len(failing)} failing: {names}; {why}".rstrip("; ")


class CallMeter:
    """Seconds since creation, and tokens of model calls since: by `tool`, or all for ''."""

    def __init__(self, budget: Budget, tool: str = "") -> None:
        self._budget, self._tool = budget, tool
        self._started, self._tokens_before = time.monotonic(), self._count()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def tokens(self) -> int:
        return self._count() - self._tokens_before

    def _count(self) -> int:
        used = self._budget.by_tool.get(self._tool)
        of_tool = used.input_tokens + used.output_tokens if used else 0
        return of_tool if self._tool else self._budget.tokens


def summarize_explanation(explanation: str) -> str:
    """Return the first sentence of a model's explanation, as a label for the attempt."""
    first = " ".join(explanation.split()).split(". ")[0].strip("# *")
    if first.count("`") % 2:  # the quoted name ends in the next sentence
        first = first.strip("`")
    return first if len(first) <= _MAX_REMARK_CHARS else f"{first[:_MAX_REMARK_CHARS]}…"


def truncate_failures(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Return the first failures, their texts truncated."""
    return tuple(_truncate_failure(item) for item in islice(failures, _MAX_FAILURES))


def _truncate_failure(item: Failure) -> Failure:
    update: dict[str, object] = {
        "message": _truncate_text(item.message),
        "output": _truncate_text(item.output),
        "frames": tuple(
            frame.model_copy(update={"text": frame.text[:_MAX_LINE_CHARS]})
            for frame in item.frames[-_MAX_FRAMES:]
        ),
    }
    if (compared := item.assertion) is not None:
        values = {"left": _truncate_text(compared.left), "right": _truncate_text(compared.right)}
        update["assertion"] = compared.model_copy(update=values)
    return item.model_copy(update=update)


def _truncate_text(text: str) -> str:
    omitted = len(text) - _MAX_TEXT_CHARS
    return text if omitted <= 0 else f"{text[:_MAX_TEXT_CHARS]}\n… ({omitted} more characters)"
