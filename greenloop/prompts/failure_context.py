"""Failures as a repair prompt shows them: few, telling, and free of what changes by chance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from greenloop.records import Failure, TestRun

MAX_SHOWN = 5
_MAX_MESSAGE_CHARS, _MAX_OUTPUT_CHARS, _MAX_SOURCE_CHARS, _MAX_LINES = 1500, 600, 2500, 8
_NORMALIZATIONS = (
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


class SourceLookup(Protocol):
    """What a run was held to: tests or checks, with the file that was to satisfy them."""

    @property
    def own_file(self) -> str: ...

    def source(self, test: str) -> str: ...


def normalize(text: str) -> str:
    """Without paths of this run, addresses and durations: equal failures give equal prompts."""
    for pattern, by in _NORMALIZATIONS:
        text = pattern.sub(by, text)
    return text


def select_failures(
    run: TestRun, sources: SourceLookup, *, max_output_chars: int = _MAX_OUTPUT_CHARS
) -> list[ShownFailure]:
    """At most `MOST_SHOWN` failures, one a root cause, the most telling first."""
    by_cause: dict[tuple[str, str], Failure] = {}
    for failure in sorted(_without_timeout_frames(run), key=_sort_key):
        by_cause.setdefault(_root_cause(failure, sources.own_file), failure)
    shown = [
        _to_shown_failure(item, sources, max_output_chars)
        for item in list(by_cause.values())[:MAX_SHOWN]
    ]
    return shown or [_from_ending(run)]


def summarize_run(run: TestRun, what: str = "tests") -> str:
    """One line: how many passed, how many did not, and how the run ended if not well."""
    noun = what.removesuffix("s") if run.passed_count == 1 else what
    counts = f"{run.passed_count} {noun} passed, {len(run.failing_tests)} did not."
    return counts if run.ending == "finished" else f"{counts} {_describe_ending(run)}"


def failure_signature(run: TestRun) -> frozenset[str]:
    """What makes two red runs the same: tests, exceptions, messages, places, normalised."""
    failures = (
        f"{item.test}|{item.exception}|{normalize(item.message)}|{_describe_innermost_frame(item)}"
        for item in _without_timeout_frames(run)
    )
    return frozenset([run.ending, *failures, *run.missing])


def _without_timeout_frames(run: TestRun) -> list[Failure]:
    """The failures, without what chance decides: the line that a hung test was at."""
    if run.ending != "timeout":
        return list(run.failures)
    return [
        item.model_copy(update={"frames": ()}) if item.exception == "Timeout" else item
        for item in run.failures
    ]


def _sort_key(failure: Failure) -> tuple[int, int, str]:
    """Collection errors hide all else; then exceptions, then assertions; short messages first."""
    rank = {"collect": 0, "setup": 1}.get(failure.phase, 2)
    return (rank, len(failure.message), failure.test)


def _root_cause(failure: Failure, own_file: str) -> tuple[str, str]:
    """Equal for failures that one mistake explains: the same line of the module raised the same.

    Failed assertions have no line of the module; they are told apart by their messages.
    """
    own = [item for item in failure.frames if item.file == own_file]
    if own:
        return failure.exception, f"{own[-1].function}:{own[-1].line}"
    return failure.exception, normalize(failure.message)


def _to_shown_failure(
    failure: Failure, sources: SourceLookup, max_output_chars: int
) -> ShownFailure:
    own = [item for item in failure.frames if item.file == sources.own_file][-_MAX_LINES:]
    return ShownFailure(
        test=failure.test,
        exception=failure.exception,
        message=_truncate(normalize(failure.message), _MAX_MESSAGE_CHARS),
        source=_truncate(sources.source(failure.test), _MAX_SOURCE_CHARS),
        lines=tuple(f"{item.file}:{item.line} in {item.function}: {item.text}" for item in own),
        output=_truncate(normalize(failure.output), max_output_chars),
    )


def _from_ending(run: TestRun) -> ShownFailure:
    """A run that broke off has no failure of a test to show."""
    what = ", ".join(run.missing[:10]) or "the test run"
    return ShownFailure(test=what, exception=run.ending, message=_describe_ending(run))


def _describe_ending(run: TestRun) -> str:
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
    detail = f" ({normalize(run.detail)})" if run.detail else ""
    return f"{words}{detail}."


def _describe_innermost_frame(failure: Failure) -> str:
    return f"{failure.frames[-1].function}:{failure.frames[-1].text}" if failure.frames else ""


def _truncate(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters cut …]\n{text[-half:]}"


def parse_failure_text(text: str) -> Sequence[ShownFailure]:
    """Failures that came as plain text, from another agent's pytest output."""
    return [
        ShownFailure("the test run", "output", _truncate(normalize(text), 4 * _MAX_MESSAGE_CHARS))
    ]
