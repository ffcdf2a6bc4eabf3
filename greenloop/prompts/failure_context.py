"""Failures as shown in a repair prompt: selected, truncated and normalized."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from greenloop.records import Failure, TestRun

MAX_SHOWN = 5
_MAX_MESSAGE_CHARS, _MAX_OUTPUT_CHARS, _MAX_SOURCE_CHARS, _MAX_LINES = 1500, 600, 2500, 8
# Only what Python and pytest write themselves: the same characters may be what a test compares.
_NORMALIZATIONS = (
    (re.compile(r"(/[\w.+-]+)*/greenloop-\w+/(work|tmp|home)/?"), ""),
    (re.compile(r"(?<![\w.-])/[\w./+-]*/(?=[\w.+-]+\.py(\)|:\d|\"?, line \d))"), ""),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "tmp…"),
    (re.compile(r"\bat 0x[0-9a-fA-F]{6,}\b"), "at 0x…"),
    (re.compile(r"\bpytest-of-\w+/pytest-\d+/"), ""),
)
_DURATION = re.compile(r"\b\d+\.\d+ ?s(econds)?\b")


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A truncated, normalized failure with the test's source and the module's traceback lines."""

    test: str
    exception: str
    message: str
    source: str = ""
    lines: tuple[str, ...] = ()
    output: str = ""


class SourceLookup(Protocol):
    """Lookup of the sources of tests or checks, and of the files that they test."""

    def owns(self, path: str) -> bool: ...

    def source(self, test: str) -> str: ...


def normalize(text: str) -> str:
    """Remove paths and addresses that vary, so that equal failures give equal prompts."""
    for pattern, by in _NORMALIZATIONS:
        text = pattern.sub(by, text)
    return text


def _normalize_output(text: str) -> str:
    """Remove durations besides: no test compares what was printed by the way."""
    return _DURATION.sub("… s", normalize(text))


def select_failures(
    run: TestRun, sources: SourceLookup, *, max_output_chars: int = _MAX_OUTPUT_CHARS
) -> list[ShownFailure]:
    """Return at most `MAX_SHOWN` failures, one for each root cause, sorted by priority."""
    by_cause: dict[tuple[str, str], Failure] = {}
    # Collection errors prevent all else; then short messages come first.
    rank = {"collect": 0, "setup": 1}
    for failure in sorted(
        _without_timeout_frames(run), key=lambda f: (rank.get(f.phase, 2), len(f.message), f.test)
    ):
        by_cause.setdefault(_root_cause(failure, sources), failure)
    shown = [
        _to_shown_failure(item, sources, max_output_chars)
        for item in list(by_cause.values())[:MAX_SHOWN]
    ]
    what = ", ".join(run.missing[:10]) or "the test run"  # that ended without a failed test
    return shown or [ShownFailure(what, run.ending, _describe_ending(run))]


def summarize_run(run: TestRun, what: str = "tests") -> str:
    """Return the counts of a run in one line, with its ending if it did not finish."""
    noun = what.removesuffix("s") if run.passed_count == 1 else what
    counts = f"{run.passed_count} {noun} passed, {len(run.failing_tests)} did not."
    return counts if run.ending == "finished" else f"{counts} {_describe_ending(run)}"


def failure_signature(run: TestRun) -> frozenset[str]:
    """Return a key of a red run: its ending, and normalized tests, exceptions, messages, lines."""
    failures = (
        f"{item.test}|{item.exception}|{normalize(item.message)}|"
        + "".join(f"{frame.function}:{frame.text}" for frame in item.frames[-1:])
        for item in _without_timeout_frames(run)
    )
    return frozenset([run.ending, *failures, *run.missing])


def _without_timeout_frames(run: TestRun) -> list[Failure]:
    """Return the failures, without the frames of a timeout, which vary between runs."""
    if run.ending != "timeout":
        return list(run.failures)
    return [
        item.model_copy(update={"frames": ()}) if item.exception == "Timeout" else item
        for item in run.failures
    ]


def _root_cause(failure: Failure, sources: SourceLookup) -> tuple[str, str]:
    """Return a key that failures with one cause share: the exception and the line of the module.

    Failed assertions have no such line and are distinguished by their normalized messages.
    """
    own = [item for item in failure.frames if sources.owns(item.file)]
    if own:
        return failure.exception, f"{own[-1].function}:{own[-1].line}"
    return failure.exception, normalize(failure.message)


def _to_shown_failure(
    failure: Failure, sources: SourceLookup, max_output_chars: int
) -> ShownFailure:
    own = [item for item in failure.frames if sources.owns(item.file)][-_MAX_LINES:]
    return ShownFailure(
        test=failure.test,
        exception=failure.exception,
        message=_truncate(normalize(failure.message), _MAX_MESSAGE_CHARS),
        source=_truncate(sources.source(failure.test), _MAX_SOURCE_CHARS),
        lines=tuple(f"{item.file}:{item.line} in {item.function}: {item.text}" for item in own),
        output=_truncate(_normalize_output(failure.output), max_output_chars),
    )


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
    text = named.get(run.ending, "Tests were not reported as they had to be")
    detail = f" ({_normalize_output(run.detail)})" if run.detail else ""
    return f"{text}{detail}."


def _truncate(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters cut …]\n{text[-half:]}"


def parse_failure_text(text: str) -> Sequence[ShownFailure]:
    """Return the pytest output of another agent as one failure."""
    return [
        ShownFailure("the test run", "output", _truncate(normalize(text), 4 * _MAX_MESSAGE_CHARS))
    ]
