"""Events of model calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class CallStarted:
    """A model call starts; `messages`: role and text of each."""

    tool: str
    messages: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


class CallProgress(NamedTuple):
    """`characters` of the answer were received so far."""

    tool: str
    characters: int


class CallRetried(NamedTuple):
    """The call failed with a transient error; it is repeated after `wait_s` seconds."""

    tool: str
    reason: str
    attempt: int
    wait_s: float


@dataclass(frozen=True)
class CallFinished:
    """A model call has ended with an answer."""

    tool: str
    seconds: float
    tokens: int
    source: Literal["model", "log"] = "model"  # paid for now, or taken from the run's log
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    response: str = field(default="", compare=False, repr=False)
    cost_usd: float | None = field(default=None, compare=False)  # None: no known price


class CallFailed(NamedTuple):
    """The call was given up; `error` is the exception's type, without its text."""

    tool: str
    error: str = ""


class ResponseRejected(NamedTuple):
    """The answer does not have its form; it is requested once more, with the reason."""

    tool: str
    why: str
