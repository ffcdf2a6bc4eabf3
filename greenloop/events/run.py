"""The steps of a run, from its start to its report."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.events.base import Event
from greenloop.records import (
    Attempt,
    Contract,
    Dispute,
    Evidence,
    Judgement,
    OutputCheck,
    RedPhase,
    Report,
    Review,
    SearchResult,
    TestRun,
)


@dataclass(frozen=True)
class RunStarted(Event):
    """`recorded` is true where the model's answers come from a replay file."""

    model: str
    sandbox: str
    isolation: str
    run_dir: str | None
    is_replay: bool = False
    resumed_responses: int = 0


@dataclass(frozen=True)
class ContractReady(Event):
    contract: Contract


@dataclass(frozen=True)
class PackageInstallStarted(Event):
    """They are not in the cache: they are downloaded and installed now."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class PackagesReady(Event):
    """`packages`: names and versions of what the code may use from here on, in one line."""

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
    """A candidate was run."""

    attempt: Attempt
    run: TestRun


@dataclass(frozen=True)
class TestRunFinished(Event):
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
    next_step: str


@dataclass(frozen=True)
class CodeGraded(Event):
    evidence: Evidence


@dataclass(frozen=True)
class HardeningDone(Event):
    """`tests` were added against surviving mutants, of which `survivors` were shown."""

    survivors: int
    tests: tuple[str, ...]


@dataclass(frozen=True)
class ChecksReady(Event):
    """What a script's output is held to."""

    checks: tuple[OutputCheck, ...]


@dataclass(frozen=True)
class RepairSearchDone(Event):
    """Single edits were tried, without a model."""

    search: SearchResult


@dataclass(frozen=True)
class Notice(Event):
    """Something that the person should know, in one line."""

    text: str


@dataclass(frozen=True)
class RunFinished(Event):
    report: Report
