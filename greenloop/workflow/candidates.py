"""The candidates of a run: which is the best, which to build on, and whether the run is stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.prompts.failure_context import failure_signature, normalize
from greenloop.records import Assertion, Attempt, AttemptKind, Failure, TestRun
from greenloop.testsuite.parser import get_function_name
from greenloop.workflow.storage.request import digest

_MAX_LINES = 5
_MAX_REMARK_CHARS = 200
IsActive = Callable[[str], bool]


_MAX_FAILURES = 50
_MAX_TEXT_CHARS = 2000  # characters of a message, of what a test printed, and of a compared value
_MAX_FRAMES = 12
_MAX_LINE_CHARS = 300


def is_always_active(_test: str) -> bool:
    """Before any test was dropped, all stand."""
    return True


@dataclass(frozen=True)
class Candidate:
    """A module's source, where it came from, and how it did (None: not run yet)."""

    code: str
    kind: AttemptKind
    remark: str = ""
    run: TestRun | None = None
    n: int = 0

    def failing_tests(self, is_active: IsActive) -> frozenset[str]:
        """Tests that it fails, of those that still stand."""
        if self.run is None:
            return frozenset({"not run"})
        return frozenset(item for item in self.run.failing_tests if is_active(item))


@dataclass
class Candidates:
    """All candidates in order. `base` is what the next repair builds on."""

    attempts: list[Attempt] = field(default_factory=list)
    tested_candidates: list[Candidate] = field(default_factory=list)
    best: Candidate | None = None
    base: Candidate | None = None
    is_active: IsActive = is_always_active
    stuck_reason: str = ""
    _seen_signatures: set[frozenset[str]] = field(default_factory=set)
    _seen_digests: set[str] = field(default_factory=set)

    def add(self, candidate: Candidate, seconds: float = 0.0, tokens: int = 0) -> Candidate:
        """Enters a new candidate, before it is run; says so in `stuck` if it was there before."""
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

    def record_run(self, candidate: Candidate, run: TestRun) -> Candidate:
        """Enters how a candidate did, and decides what is best and what to build on."""
        done = replace(candidate, run=run)
        self._update_attempt(done, run)
        self.stuck_reason = self._detect_stuck(done, run)
        known = any(item.n == done.n for item in self.tested_candidates)
        self.tested_candidates = [item for item in self.tested_candidates if item.n != done.n] + [
            done
        ]
        self.base = done if known else self._choose_base(done)
        best = self.best
        if (
            best is None
            or best.run is None
            or best.n == done.n
            or self._has_fewer_failures(done, best)
        ):
            self.best = done
        return done

    def replace_source(self, candidate: Candidate, code: str) -> Candidate:
        """The same candidate as it will be run and handed over."""
        if code == candidate.code:
            return candidate
        index = candidate.n - 1
        changed = {"code_sha256": digest(code), "code": code}
        self.attempts[index] = self.attempts[index].model_copy(update=changed)
        return replace(candidate, code=code)

    def select_best_for_rerun(self) -> bool:
        """Whether the best fails nothing that still stands, and was not green only for what fell.

        Then it is what is built upon: running it again tells.
        """
        best = self.best
        if (
            best is None
            or best.run is None
            or best.run.passed
            or best.failing_tests(self.is_active)
        ):
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

    def _detect_stuck(self, done: Candidate, run: TestRun) -> str:
        sha, seen = digest(done.code), failure_signature(run)
        again = any(item.n == done.n for item in self.tested_candidates)
        same_code, same_failures = sha in self._seen_digests, seen in self._seen_signatures
        self._seen_digests.add(sha)
        self._seen_signatures.add(seen)
        if run.passed or again:
            return ""
        if same_code:
            return "this code was there before"
        return "the same failures as before" if same_failures else ""

    def _choose_base(self, done: Candidate) -> Candidate:
        """The new candidate, unless it breaks what passed and is no better for it."""
        best = self.best
        if best is None or best.run is None:
            return done
        now, before = done.failing_tests(self.is_active), best.failing_tests(self.is_active)
        if len(now) < len(before) or not now - before:
            return done
        if done.kind == "rewrite" and len(now) == len(before):
            return done
        return best

    def _has_fewer_failures(self, one: Candidate, other: Candidate) -> bool:
        return len(one.failing_tests(self.is_active)) < len(other.failing_tests(self.is_active))

    def format_attempts(self, exclude: int = 0) -> list[str]:
        """One line for each of the last attempts that were run: what was tried, what came of it.

        `but` is the number of an attempt to leave out, because it is shown at length.
        """
        return [
            self._format_attempt(item)
            for item in self.tested_candidates
            if item.run and item.n != exclude
        ][-_MAX_LINES:]

    def _format_attempt(self, item: Candidate) -> str:
        assert item.run is not None
        failing = item.failing_tests(self.is_active)
        first = next(iter(item.run.failures), None)
        why = (
            normalize(f"{first.exception}: {first.message}").split("\n")[0][:_MAX_REMARK_CHARS]
            if first
            else ""
        )
        remark = f" ({item.remark})" if item.remark else ""
        names = ", ".join(sorted(get_function_name(name) for name in failing)[:4])
        return f"{item.kind}{remark}: {len(failing)} failing: {names}; {why}".rstrip("; ")


def summarize_explanation(explanation: str) -> str:
    """The first sentence of what the model said of its code, as a label for the attempt."""
    first = " ".join(explanation.split()).split(". ")[0].strip("# *")
    if first.count("`") % 2:  # the end of a name went with the next sentence, or stood alone
        first = first.strip("`")
    return first if len(first) <= _MAX_REMARK_CHARS else f"{first[:_MAX_REMARK_CHARS]}…"


def truncate_failures(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """The first of them, each cut."""
    return tuple(_truncate_failure(item) for item in islice(failures, _MAX_FAILURES))


def _truncate_failure(item: Failure) -> Failure:
    frames = (
        frame.model_copy(update={"text": frame.text[:_MAX_LINE_CHARS]}) for frame in item.frames
    )
    return item.model_copy(
        update={
            "message": _truncate_text(item.message),
            "output": _truncate_text(item.output),
            "frames": tuple(frames)[-_MAX_FRAMES:],
            "assertion": _truncate_assertion(item.assertion),
        }
    )


def _truncate_assertion(item: Assertion | None) -> Assertion | None:
    if item is None:
        return None
    values = {"left": _truncate_text(item.left), "right": _truncate_text(item.right)}
    return item.model_copy(update=values)


def _truncate_text(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_TEXT_CHARS
        else f"{text[:_MAX_TEXT_CHARS]}\n… ({len(text) - _MAX_TEXT_CHARS} more characters)"
    )
