"""Failures as a repair prompt shows them: few, telling, and free of what changes by chance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from greenloop.records import Failure, TestRun

MOST_SHOWN = 5
_MESSAGE, _OUTPUT, _SOURCE, _LINES = 1500, 600, 2500, 8
_NORMALISED = (
    (re.compile(r"(/[\w.+-]+)*/greenloop-\w+/(work|tmp|home)/?"), ""),
    (re.compile(r"/[\w./+-]*/(?=[\w.+-]+\.py\b)"), ""),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0x…"),
    (re.compile(r"\bpytest-of-\w+/pytest-\d+/"), ""),
    (re.compile(r"\b\d+\.\d+ ?s(econds)?\b"), "… s"),
)


@dataclass(frozen=True)
class ShownFailure:
    """One failure, cut and normalised; `source` is the test's, `lines` the implementation's."""

    test: str
    exception: str
    message: str
    source: str = ""
    lines: tuple[str, ...] = ()
    output: str = ""


class Held(Protocol):
    """What a run was held to: tests or checks, with the file that was to satisfy them."""

    @property
    def own_file(self) -> str: ...

    def source(self, test: str) -> str: ...


def normalised(text: str) -> str:
    """Without paths of this run, addresses and durations: equal failures give equal prompts."""
    for pattern, by in _NORMALISED:
        text = pattern.sub(by, text)
    return text


def shown_failures(run: TestRun, held: Held, *, output: int = _OUTPUT) -> list[ShownFailure]:
    """At most `MOST_SHOWN` failures, one a root cause, the most telling first."""
    by_cause: dict[tuple[str, str], Failure] = {}
    for failure in sorted(_steady(run), key=_tellingness):
        by_cause.setdefault(_cause(failure, held.own_file), failure)
    shown = [_shown(item, held, output) for item in list(by_cause.values())[:MOST_SHOWN]]
    return shown or [_of_ending(run)]


def summary(run: TestRun, what: str = "tests") -> str:
    """One line: how many passed, how many did not, and how the run ended if not well."""
    noun = what.removesuffix("s") if run.passed_count == 1 else what
    counts = f"{run.passed_count} {noun} passed, {len(run.failing)} did not."
    return counts if run.ending == "finished" else f"{counts} {_ending(run)}"


def signature(run: TestRun) -> frozenset[str]:
    """What makes two red runs the same: tests, exceptions, messages, places, normalised."""
    failures = (
        f"{item.test}|{item.exception}|{normalised(item.message)}|{_place(item)}"
        for item in _steady(run)
    )
    return frozenset([run.ending, *failures, *run.missing])


def _steady(run: TestRun) -> list[Failure]:
    """The failures, without what chance decides: the line that a hung test was at."""
    if run.ending != "timeout":
        return list(run.failures)
    return [
        item.model_copy(update={"frames": ()}) if item.exception == "Timeout" else item
        for item in run.failures
    ]


def _tellingness(failure: Failure) -> tuple[int, int, str]:
    """Collection errors hide all else; then exceptions, then assertions; short messages first."""
    rank = {"collect": 0, "setup": 1}.get(failure.phase, 2)
    return (rank, len(failure.message), failure.test)


def _cause(failure: Failure, own_file: str) -> tuple[str, str]:
    """Equal for failures that one mistake explains: the same line of the module raised the same.

    Failed assertions have no line of the module; they are told apart by their messages.
    """
    own = [item for item in failure.frames if item.file == own_file]
    if own:
        return failure.exception, f"{own[-1].function}:{own[-1].line}"
    return failure.exception, normalised(failure.message)


def _shown(failure: Failure, held: Held, output: int) -> ShownFailure:
    own = [item for item in failure.frames if item.file == held.own_file][-_LINES:]
    return ShownFailure(
        test=failure.test,
        exception=failure.exception,
        message=_cut(normalised(failure.message), _MESSAGE),
        source=_cut(held.source(failure.test), _SOURCE),
        lines=tuple(f"{item.file}:{item.line} in {item.function}: {item.text}" for item in own),
        output=_cut(normalised(failure.output), output),
    )


def _of_ending(run: TestRun) -> ShownFailure:
    """A run that broke off has no failure of a test to show."""
    what = ", ".join(run.missing[:10]) or "the test run"
    return ShownFailure(test=what, exception=run.ending, message=_ending(run))


def _ending(run: TestRun) -> str:
    named = {
        "timeout": "The run was stopped: time was up",
        "cpu": "The run was stopped: its CPU time was used up",
        "memory": "The run was stopped: it used too much memory",
        "processes": "The test process died: it started too many processes or threads",
        "disk": "The run was stopped: it wrote too many files, or too large ones",
        "output": "The run was stopped: too much output",
        "crashed": "The test process died",
        "garbled": "The test process sent a result that pytest does not send",
        "interrupted": "The run was interrupted",
    }
    words = named.get(run.ending, "Tests were not reported as they had to be")
    detail = f" ({normalised(run.detail)})" if run.detail else ""
    return f"{words}{detail}."


def _place(failure: Failure) -> str:
    return f"{failure.frames[-1].function}:{failure.frames[-1].text}" if failure.frames else ""


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters cut …]\n{text[-half:]}"


def as_shown(text: str) -> Sequence[ShownFailure]:
    """Failures that came as plain text, from another agent's pytest output."""
    return [ShownFailure("the test run", "output", _cut(normalised(text), 4 * _MESSAGE))]
