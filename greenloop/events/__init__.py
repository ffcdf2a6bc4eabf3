"""Events of a run or batch, emitted by the workflow for renderers and tracers."""

from collections.abc import Callable
from dataclasses import dataclass

from greenloop.events.work import BatchStarted as BatchStarted
from greenloop.events.work import CallFailed as CallFailed
from greenloop.events.work import CallFinished as CallFinished
from greenloop.events.work import CallProgress as CallProgress
from greenloop.events.work import CallRetried as CallRetried
from greenloop.events.work import CallStarted as CallStarted
from greenloop.events.work import EntryEnded as EntryEnded
from greenloop.events.work import EntryStarted as EntryStarted
from greenloop.events.work import HiddenTestsFinished as HiddenTestsFinished
from greenloop.events.work import ResponseRejected as ResponseRejected
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
    Evidence,
    OutputCheck,
    Peer,
    RedPhase,
    Report,
    Review,
    SearchResult,
    TestRun,
)
from greenloop.records.generation import Dispute, Judgement


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run starts."""

    model: str
    sandbox: str
    isolation: str
    run_dir: str | None
    is_replay: bool = False  # the model's answers come from a replay file
    resumed_responses: int = 0
    max_repairs: int = 0  # limit of the run


@dataclass(frozen=True, slots=True)
class RunFinished:
    report: Report


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class ContractReady:
    contract: Contract


@dataclass(frozen=True, slots=True)
class ChoiceAsked:
    """A question is about to be shown; renderers print nothing until `ChoiceAnswered`."""

    choice: Choice


@dataclass(frozen=True, slots=True)
class ChoiceAnswered:
    choice: Choice
    answer: ChoiceAnswer


@dataclass(frozen=True, slots=True)
class PackageInstallStarted:
    """Packages that are not in the cache are being installed."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackagesReady:
    """The code may now use `packages`: names and versions in one line."""

    packages: str
    cached: bool


@dataclass(frozen=True, slots=True)
class CodeReviewed:
    review: Review


@dataclass(frozen=True, slots=True)
class RedPhaseDone:
    red_phase: RedPhase
    tests: int


@dataclass(frozen=True, slots=True)
class AutofixApplied:
    fixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CandidateTested:
    """The tests were run on a candidate."""

    attempt: Attempt
    run: TestRun


@dataclass(frozen=True)
class TestRunFinished:
    """Tests were run on given code, as `check` does."""

    __test__ = False

    run: TestRun


@dataclass(frozen=True, slots=True)
class DisputeJudged:
    dispute: Dispute
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Stuck:
    why: str
    next_step: str


@dataclass(frozen=True, slots=True)
class CodeGraded:
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class HardeningDone:
    """The model was shown `survivors` surviving mutants, and `tests` were added."""

    survivors: int
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PeerCompared:
    """Green code was compared with a second implementation of the text."""

    peer: Peer


@dataclass(frozen=True, slots=True)
class ChecksReady:
    """The checks of a script's output."""

    checks: tuple[OutputCheck, ...]


@dataclass(frozen=True, slots=True)
class RepairSearchDone:
    """The search for a repair by small edits, without a model, has ended."""

    search: SearchResult


@dataclass(frozen=True, slots=True)
class EntryProgress:
    """An event within the run of one specification."""

    id: str
    event: "Event"


Event = (
    RunStarted
    | RunFinished
    | Notice
    | ContractReady
    | ChoiceAsked
    | ChoiceAnswered
    | PackageInstallStarted
    | PackagesReady
    | CodeReviewed
    | RedPhaseDone
    | AutofixApplied
    | CandidateTested
    | TestRunFinished
    | DisputeJudged
    | Stuck
    | CodeGraded
    | HardeningDone
    | PeerCompared
    | ChecksReady
    | RepairSearchDone
    | CallStarted
    | CallProgress
    | CallRetried
    | CallFinished
    | CallFailed
    | ResponseRejected
    | SandboxJobEnded
    | SandboxJobProgress
    | SandboxJobStarted
    | WorkEnded
    | WorkStarted
    | BatchStarted
    | EntryEnded
    | EntryProgress
    | EntryStarted
    | HiddenTestsFinished
)
EventSink = Callable[[Event], None]


def ignore_event(_event: Event) -> None:
    """Drop an event."""
