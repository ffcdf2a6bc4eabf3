"""Events of a run or batch, emitted by the workflow for renderers and tracers."""

from collections.abc import Callable

from greenloop.events.base import Event as Event
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


class RunStarted(Event):
    """A run starts."""

    model: str
    sandbox: str
    isolation: str
    run_dir: str | None
    is_replay: bool = False  # the model's answers come from a replay file
    resumed_responses: int = 0
    max_repairs: int = 0  # limit of the run


class RunFinished(Event):
    report: Report


class Notice(Event):
    """One line for the user."""

    text: str


class ContractReady(Event):
    contract: Contract


class ChoiceAsked(Event):
    """A question is about to be shown; renderers print nothing until `ChoiceAnswered`."""

    choice: Choice


class ChoiceAnswered(Event):
    choice: Choice
    answer: ChoiceAnswer


class PackageInstallStarted(Event):
    """Packages that are not in the cache are being installed."""

    names: tuple[str, ...]


class PackagesReady(Event):
    """The code may now use `packages`: names and versions in one line."""

    packages: str
    cached: bool


class CodeReviewed(Event):
    review: Review


class RedPhaseDone(Event):
    red_phase: RedPhase
    tests: int


class AutofixApplied(Event):
    fixes: tuple[str, ...]


class CandidateTested(Event):
    """The tests were run on a candidate."""

    attempt: Attempt
    run: TestRun


class TestRunFinished(Event):
    """Tests were run on given code, as `check` does."""

    __test__ = False

    run: TestRun


class DisputeJudged(Event):
    dispute: Dispute
    judgement: Judgement


class Stuck(Event):
    why: str
    next_step: str


class CodeGraded(Event):
    evidence: Evidence


class HardeningDone(Event):
    """The model was shown `survivors` surviving mutants, and `tests` were added."""

    survivors: int
    tests: tuple[str, ...]


class PeerCompared(Event):
    """Green code was compared with a second implementation of the text."""

    peer: Peer


class ChecksReady(Event):
    """The checks of a script's output."""

    checks: tuple[OutputCheck, ...]


class RepairSearchDone(Event):
    """The search for a repair by small edits, without a model, has ended."""

    search: SearchResult


class EntryProgress(Event):
    """An event within the run of one specification."""

    id: str
    event: Event


EventSink = Callable[[Event], None]


def ignore_event(_event: Event) -> None:
    """Drop an event."""
