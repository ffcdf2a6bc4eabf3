"""Events of a run or batch: the loop emits them, renderers and tracers listen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from greenloop.events.base import Event as Event
from greenloop.events.base import EventSink as EventSink
from greenloop.events.base import ignore_event as ignore_event
from greenloop.events.batch import BatchStarted as BatchStarted
from greenloop.events.batch import EntryEnded as EntryEnded
from greenloop.events.batch import EntryProgress as EntryProgress
from greenloop.events.batch import EntryStarted as EntryStarted
from greenloop.events.batch import HiddenTestsFinished as HiddenTestsFinished
from greenloop.events.work import SandboxJobEnded as SandboxJobEnded
from greenloop.events.work import SandboxJobProgress as SandboxJobProgress
from greenloop.events.work import SandboxJobStarted as SandboxJobStarted
from greenloop.events.work import WorkEnded as WorkEnded
from greenloop.events.work import WorkStarted as WorkStarted
from greenloop.records import (
    Attempt,
    Choice,
    ChoiceAnswer,
    Contract,
    Dispute,
    Evidence,
    Judgement,
    OutputCheck,
    Peer,
    RedPhase,
    Report,
    Review,
    SearchResult,
    TestRun,
)


@dataclass(frozen=True)
class RunStarted(Event):
    """A run starts."""

    model: str
    sandbox: str
    isolation: str
    run_dir: str | None
    is_replay: bool = False  # the model's answers come from a replay file
    resumed_responses: int = 0
    max_repairs: int = 0  # how many may be made


@dataclass(frozen=True)
class RunFinished(Event):
    report: Report


@dataclass(frozen=True)
class Notice(Event):
    """One line for the user."""

    text: str


@dataclass(frozen=True)
class ContractReady(Event):
    contract: Contract


@dataclass(frozen=True)
class ChoiceAsked(Event):
    """The user is about to be asked; nothing else may be shown until the answer."""

    choice: Choice


@dataclass(frozen=True)
class ChoiceAnswered(Event):
    choice: Choice
    answer: ChoiceAnswer


@dataclass(frozen=True)
class PackageInstallStarted(Event):
    """Packages that are not in the cache are being installed."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class PackagesReady(Event):
    """`packages`: names and versions that the code may use from now on, in one line."""

    packages: str
    cached: bool


@dataclass(frozen=True)
class CodeReviewed(Event):
    review: Review


@dataclass(frozen=True)
class RedPhaseDone(Event):
    red_phase: RedPhase
    tests: int


@dataclass(frozen=True)
class AutofixApplied(Event):
    fixes: tuple[str, ...]


@dataclass(frozen=True)
class CandidateTested(Event):
    """The tests were run on a candidate."""

    attempt: Attempt
    run: TestRun


@dataclass(frozen=True)
class TestRunFinished(Event):
    """Tests were run on given code, as `check` does."""

    __test__ = False

    run: TestRun


@dataclass(frozen=True)
class DisputeJudged(Event):
    dispute: Dispute
    judgement: Judgement


@dataclass(frozen=True)
class Stuck(Event):
    why: str
    next_step: str


@dataclass(frozen=True)
class CodeGraded(Event):
    evidence: Evidence


@dataclass(frozen=True)
class HardeningDone(Event):
    """`tests` were added after the model saw `survivors` surviving mutants."""

    survivors: int
    tests: tuple[str, ...]


@dataclass(frozen=True)
class PeerCompared(Event):
    """Green code was compared with a second implementation of the text."""

    peer: Peer


@dataclass(frozen=True)
class ChecksReady(Event):
    """The checks of a script's output."""

    checks: tuple[OutputCheck, ...]


@dataclass(frozen=True)
class RepairSearchDone(Event):
    """The search for a repair by small edits, without a model, has ended."""

    search: SearchResult


@dataclass(frozen=True)
class CallStarted(Event):
    """A model call starts; `messages`: role and text of each."""

    tool: str
    messages: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class CallProgress(Event):
    """`characters` of the answer were received so far."""

    tool: str
    characters: int


@dataclass(frozen=True)
class CallRetried(Event):
    """The call failed with a transient error; it is repeated after `wait_s` seconds."""

    tool: str
    reason: str
    attempt: int
    wait_s: float


@dataclass(frozen=True)
class CallFinished(Event):
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


@dataclass(frozen=True)
class CallFailed(Event):
    """The call was given up; `error` is the exception's type, without its text."""

    tool: str
    error: str = ""


@dataclass(frozen=True)
class ResponseRejected(Event):
    """The answer does not have its form; it is requested once more, with the reason."""

    tool: str
    why: str
