"""What happens during a run, as typed events. The loop emits them; renderers listen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from greenloop.records import (
    Attempt,
    BatchOutcome,
    BatchTotals,
    Contract,
    Dispute,
    Evidence,
    Judgement,
    OutputCheck,
    RedPhase,
    Report,
    Review,
    Search,
    TestRun,
)
from greenloop.records.evaluation import TaskResult


@dataclass(frozen=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True)
class RunStarted(Event):
    """`recorded` is true where the model's answers come from a replay file."""

    model: str
    sandbox: str
    isolation: str
    run_dir: str | None
    recorded: bool = False
    resumed_answers: int = 0


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
    answer: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class CallFailed(Event):
    """The call was given up; why is told by what that leads to."""

    tool: str


@dataclass(frozen=True)
class WorkStarted(Event):
    """Something is begun here, without the model: a run, or a piece of a grade. Several go on at
    once, under different names."""

    name: str


@dataclass(frozen=True)
class WorkEnded(Event):
    name: str


@dataclass(frozen=True)
class AnswerRejected(Event):
    """The answer lacked its form; it is asked for again once, with the reason."""

    tool: str
    why: str


@dataclass(frozen=True)
class ContractReady(Event):
    contract: Contract


@dataclass(frozen=True)
class PackagesAwaited(Event):
    """They are not in the cache: they are downloaded and installed now."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class PackagesReady(Event):
    """`packages`: names and versions of what the code may use from here on, in one line."""

    packages: str
    cached: bool


@dataclass(frozen=True)
class Reviewed(Event):
    review: Review


@dataclass(frozen=True)
class RedPhaseDone(Event):
    red_phase: RedPhase
    tests: int


@dataclass(frozen=True)
class FreeFixed(Event):
    fixes: tuple[str, ...]


@dataclass(frozen=True)
class Attempted(Event):
    """A candidate was run."""

    attempt: Attempt
    run: TestRun


@dataclass(frozen=True)
class TestsRun(Event):
    """Tests were run on code that nobody wrote here."""

    __test__ = False

    run: TestRun


@dataclass(frozen=True)
class DisputeJudged(Event):
    dispute: Dispute
    judgement: Judgement


@dataclass(frozen=True)
class Stuck(Event):
    why: str
    then: str


@dataclass(frozen=True)
class Graded(Event):
    evidence: Evidence


@dataclass(frozen=True)
class Hardened(Event):
    """`tests` were added against surviving mutants, of which `survivors` were shown."""

    survivors: int
    tests: tuple[str, ...]


@dataclass(frozen=True)
class ChecksReady(Event):
    """What a script's output is held to."""

    checks: tuple[OutputCheck, ...]


@dataclass(frozen=True)
class Searched(Event):
    """Single edits were tried, without a model."""

    search: Search


@dataclass(frozen=True)
class SandboxBegun(Event):
    """Work of this `kind` begins in the sandbox; `key` is its own. Comes from any thread."""

    key: str
    kind: str


@dataclass(frozen=True)
class SandboxDone(Event):
    """The work of this `key` has ended; `output` is what it printed."""

    key: str
    ending: str
    seconds: float
    output: str = field(default="", compare=False, repr=False)


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
class EntryAtWork(Event):
    """Within the run of one specification something began, went on or ended."""

    id: str
    event: Event


@dataclass(frozen=True)
class EntryEnded(Event):
    """One specification of a batch has ended; `totals` are those so far."""

    outcome: BatchOutcome
    totals: BatchTotals


@dataclass(frozen=True)
class HiddenTestsRun(Event):
    """A task of an evaluation was held against its hidden tests, now or in an earlier call."""

    result: TaskResult
    before: bool = False


@dataclass(frozen=True)
class Notice(Event):
    """Something that the person should know, in one line."""

    text: str


@dataclass(frozen=True)
class RunFinished(Event):
    report: Report


Emit = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """The listener that listens to nothing."""
