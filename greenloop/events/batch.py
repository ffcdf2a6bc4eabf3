"""Events of a batch and of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.records.evaluation import TaskResult


@dataclass(frozen=True)
class BatchStarted:
    """A batch of `count` specifications starts; its results are in `folder`."""

    count: int
    folder: str


class EntryStarted(NamedTuple):
    """The run of one specification of a batch starts."""

    id: str


class EntryEnded(NamedTuple):
    """One specification of a batch has ended; `totals` are those so far."""

    outcome: BatchOutcome
    totals: BatchTotals


class HiddenTestsFinished(NamedTuple):
    """The hidden tests of an evaluation's task were run, now or in an earlier call."""

    result: TaskResult
    from_earlier_call: bool = False
