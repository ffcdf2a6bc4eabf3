"""Failures as a report has them: a few, and each cut, so that no test can make a report huge."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from greenloop.records import Assertion, Failure

_MOST = 50
_TEXT = 2000  # characters of a message, of what a test printed, and of a compared value
_FRAMES = 12
_LINE = 300


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
