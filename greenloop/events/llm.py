"""Calls of the model, and work in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from greenloop.events.base import Event


@dataclass(frozen=True)
class CallStarted(Event):
    """`messages`: role and text of each."""

    tool: str
    messages: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class CallProgress(Event):
    """`characters` of the answer have come in so far."""

    tool: str
    characters: int


@dataclass(frozen=True)
class CallRetried(Event):
    """The call failed in a way that may pass; it is made again after `wait_s` seconds."""

    tool: str
    reason: str
    attempt: int
    wait_s: float


@dataclass(frozen=True)
class CallFinished(Event):
    """`source` says whether the answer was paid for now or served from the run's own log."""

    tool: str
    seconds: float
    tokens: int
    source: Literal["model", "log"] = "model"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    response: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class CallFailed(Event):
    """The call was given up; `error` is the kind of why, its text is told by what that leads to."""

    tool: str
    error: str = ""


@dataclass(frozen=True)
class WorkStarted(Event):
    """Something is begun here, without the model: a run, or a piece of a grade. Several go on at
    once, under different names."""

    name: str


@dataclass(frozen=True)
class WorkEnded(Event):
    name: str


@dataclass(frozen=True)
class ResponseRejected(Event):
    """The answer lacked its form; it is asked for again once, with the reason."""

    tool: str
    why: str


@dataclass(frozen=True)
class SandboxJobStarted(Event):
    """Work of this `kind` begins in the sandbox; `key` is its own. Comes from any thread."""

    key: str
    kind: str


@dataclass(frozen=True)
class SandboxJobEnded(Event):
    """The work of this `key` has ended; `output` is what it printed."""

    key: str
    ending: str
    seconds: float
    output: str = field(default="", compare=False, repr=False)
