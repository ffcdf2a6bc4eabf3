"""The candidates of a run: which is the best, which to build on, and whether the run is stuck."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.prompts.failure_context import normalised, signature
from greenloop.records import Assertion, Attempt, AttemptKind, Failure, TestRun
from greenloop.testsuite.parser import function_name
from greenloop.workflow.storage.request import digest

_LINES = 5
_REMARK = 200
Stands = Callable[[str], bool]


_MOST = 50
_TEXT = 2000  # characters of a message, of what a test printed, and of a compared value
_FRAMES = 12
_LINE = 300


def always(_test: str) -> bool:
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

    def failing(self, stands: Stands) -> frozenset[str]:
        """Tests that it fails, of those that still stand."""
        if self.run is None:
            return frozenset({"not run"})
        return frozenset(item for item in self.run.failing if stands(item))


@dataclass
class History:
    """All candidates in order. `base` is what the next repair builds on."""

    attempts: list[Attempt] = field(default_factory=list)
    tried: list[Candidate] = field(default_factory=list)
    best: Candidate | None = None
    base: Candidate | None = None
    stands: Stands = always
    stuck: str = ""
    _signatures: set[frozenset[str]] = field(default_factory=set)
    _codes: set[str] = field(default_factory=set)

    def enter(self, candidate: Candidate, seconds: float = 0.0, tokens: int = 0) -> Candidate:
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

    def enter_run(self, candidate: Candidate, run: TestRun) -> Candidate:
        """Enters how a candidate did, and decides what is best and what to build on."""
        done = replace(candidate, run=run)
        self._count(done, run)
        self.stuck = self._why_stuck(done, run)
        known = any(item.n == done.n for item in self.tried)
        self.tried = [item for item in self.tried if item.n != done.n] + [done]
        self.base = done if known else self._built_on(done)
        best = self.best
        if best is None or best.run is None or best.n == done.n or self._fewer(done, best):
            self.best = done
        return done

    def reformatted(self, candidate: Candidate, code: str) -> Candidate:
        """The same candidate as it will be run and handed over."""
        if code == candidate.code:
            return candidate
        index = candidate.n - 1
        changed = {"code_sha256": digest(code), "code": code}
        self.attempts[index] = self.attempts[index].model_copy(update=changed)
        return replace(candidate, code=code)

    def best_deserves_a_run(self) -> bool:
        """Whether the best fails nothing that still stands, and was not green only for what fell.

        Then it is what is built upon: running it again tells.
        """
        best = self.best
        if best is None or best.run is None or best.run.passed or best.failing(self.stands):
            return False
        self.base = best
        return best.run.ending == "finished"

    def _count(self, done: Candidate, run: TestRun) -> None:
        index = done.n - 1
        counted: dict[str, object] = {
            "passed": run.passed_count,
            "failed": run.failed_count,
            "errors": run.error_count,
            "outcomes": run.outcomes,
        }
        if not run.passed:
            counted |= {
                "failures": told(run.failures),
                "ending": run.ending,
                "detail": run.detail,
            }
        self.attempts[index] = self.attempts[index].model_copy(update=counted)

    def _why_stuck(self, done: Candidate, run: TestRun) -> str:
        sha, seen = digest(done.code), signature(run)
        again = any(item.n == done.n for item in self.tried)
        same_code, same_failures = sha in self._codes, seen in self._signatures
        self._codes.add(sha)
        self._signatures.add(seen)
        if run.passed or again:
            return ""
        if same_code:
            return "this code was there before"
        return "the same failures as before" if same_failures else ""

    def _built_on(self, done: Candidate) -> Candidate:
        """The new candidate, unless it breaks what passed and is no better for it."""
        best = self.best
        if best is None or best.run is None:
            return done
        now, before = done.failing(self.stands), best.failing(self.stands)
        if len(now) < len(before) or not now - before:
            return done
        if done.kind == "rewrite" and len(now) == len(before):
            return done
        return best

    def _fewer(self, one: Candidate, other: Candidate) -> bool:
        return len(one.failing(self.stands)) < len(other.failing(self.stands))

    def lines(self, but: int = 0) -> list[str]:
        """One line for each of the last attempts that were run: what was tried, what came of it.

        `but` is the number of an attempt to leave out, because it is shown at length.
        """
        return [self._line(item) for item in self.tried if item.run and item.n != but][-_LINES:]

    def _line(self, item: Candidate) -> str:
        assert item.run is not None
        failing = item.failing(self.stands)
        first = next(iter(item.run.failures), None)
        why = (
            normalised(f"{first.exception}: {first.message}").split("\n")[0][:_REMARK]
            if first
            else ""
        )
        remark = f" ({item.remark})" if item.remark else ""
        names = ", ".join(sorted(function_name(name) for name in failing)[:4])
        return f"{item.kind}{remark}: {len(failing)} failing: {names}; {why}".rstrip("; ")


def remark(explanation: str) -> str:
    """The first sentence of what the model said of its code, as a label for the attempt."""
    first = " ".join(explanation.split()).split(". ")[0].strip("# *")
    if first.count("`") % 2:  # the end of a name went with the next sentence, or stood alone
        first = first.strip("`")
    return first if len(first) <= _REMARK else f"{first[:_REMARK]}…"


def told(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """The first of them, each cut."""
    return tuple(_cut(item) for item in islice(failures, _MOST))


def _cut(item: Failure) -> Failure:
    frames = (frame.model_copy(update={"text": frame.text[:_LINE]}) for frame in item.frames)
    return item.model_copy(
        update={
            "message": _shortened(item.message),
            "output": _shortened(item.output),
            "frames": tuple(frames)[-_FRAMES:],
            "assertion": _cut_assertion(item.assertion),
        }
    )


def _cut_assertion(item: Assertion | None) -> Assertion | None:
    if item is None:
        return None
    values = {"left": _shortened(item.left), "right": _shortened(item.right)}
    return item.model_copy(update=values)


def _shortened(text: str) -> str:
    return (
        text if len(text) <= _TEXT else f"{text[:_TEXT]}\n… ({len(text) - _TEXT} more characters)"
    )
