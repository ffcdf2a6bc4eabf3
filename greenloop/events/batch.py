"""Events of a batch and of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.events.base import Event
from greenloop.records import BatchOutcome, BatchTotals
from greenloop.records.evaluation import TaskResult


@dataclass(frozen=True)
class BatchStarted(Event):
    """A batch of `count` specifications starts; its results are in `folder`."""

    count: int
    folder: str


@dataclass(frozen=True)
class EntryStarted(Event):
    """The run of one specification of a batch starts."""

    id: str


@dataclass(frozen=True)
class EntryProgress(Event):
    """An event within the run of one specification."""

    id: str
    event: Event


@dataclass(frozen=True)
class EntryEnded(Event):
    """One specification of a batch has ended; `totals` are those so far."""

    outcome: BatchOutcome
    totals: BatchTotals


@dataclass(frozen=True)
class HiddenTestsFinished(Event):
    """The hidden tests of an evaluation's task were run, now or in an earlier call."""

    result: TaskResult
    from_earlier_call: bool = False
