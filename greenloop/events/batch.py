"""Many runs side by side."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.events.base import Event
from greenloop.records import BatchOutcome, BatchTotals
from greenloop.records.evaluation import TaskResult


@dataclass(frozen=True)
class BatchStarted(Event):
    """`folder` keeps the results of so many specifications."""

    count: int
    folder: str


@dataclass(frozen=True)
class EntryStarted(Event):
    """One specification of a batch is begun."""

    id: str


@dataclass(frozen=True)
class EntryProgress(Event):
    """Within the run of one specification something began, went on or ended."""

    id: str
    event: Event


@dataclass(frozen=True)
class EntryEnded(Event):
    """One specification of a batch has ended; `totals` are those so far."""

    outcome: BatchOutcome
    totals: BatchTotals


@dataclass(frozen=True)
class HiddenTestsFinished(Event):
    """A task of an evaluation was held against its hidden tests, now or in an earlier call."""

    result: TaskResult
    from_earlier_call: bool = False
