"""Typed records that are passed between packages and stored in reports."""

from greenloop.records.base import Record
from greenloop.records.contract import (
    Background,
    Choice,
    ChoiceAnswer,
    Contract,
    GivenExample,
    HeldOutExample,
    KeptBehaviour,
    Requirement,
    has_enough_examples,
)
from greenloop.records.evidence import Evidence
from greenloop.records.evidence.answers import HeldOut, Isolated, Memorization, NotObservable
from greenloop.records.evidence.assertion_mutation import AssertionMutation, AssertionSurvivor
from greenloop.records.evidence.base import EvidenceRow, ExtraEvidence, Piece, Thresholds
from greenloop.records.evidence.coverage import Coverage
from greenloop.records.evidence.integrity import IntegrityFinding
from greenloop.records.evidence.mutation import EquivalentMutant, MutantResult, Mutation, Survivor
from greenloop.records.evidence.peer import Difference, Peer
from greenloop.records.evidence.reruns import EmptyBodies, Flakiness, RedPhase
from greenloop.records.project import (
    Baseline,
    BaselineResult,
    BeforeAfter,
    Change,
    ChangedFile,
    ChangePlan,
    Location,
)
from greenloop.records.pytest_run import (
    Assertion,
    Ending,
    Expectation,
    Failure,
    Frame,
    LimitName,
    Outcome,
    TestOutcome,
    TestRun,
)
from greenloop.records.report import (
    Artifacts,
    Attempt,
    AttemptKind,
    Command,
    DisputeEntry,
    Environment,
    Origin,
    ProducedFileInfo,
    ProjectEnvironment,
    Report,
    SandboxInfo,
    ScriptResult,
    TestEntry,
    Timings,
    ToolUsage,
    Usage,
    Verdict,
)
from greenloop.records.review import Finding, Review
from greenloop.records.script_result import (
    InputFile,
    OutputCheck,
    ProducedFile,
    Project,
    ScriptError,
    ScriptJob,
    ScriptRun,
)
from greenloop.records.search import Patch, SearchResult
