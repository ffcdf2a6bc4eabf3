"""A run and its state, which the steps of the workflow read and change."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from greenloop.dependencies import InstalledPackages
from greenloop.events import EventSink, Notice
from greenloop.grading import Plan
from greenloop.llm.budget import Budget
from greenloop.records import (
    AttemptKind,
    Change,
    Contract,
    DisputeEntry,
    Evidence,
    Expectation,
    ProjectEnvironment,
    RedPhase,
    Review,
    SandboxInfo,
    ScriptRun,
    SearchResult,
    TestRun,
)
from greenloop.records.contract import ChoiceAsker
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite import Suite
from greenloop.threads import complete_in_thread
from greenloop.workflow.candidates import CallMeter, Candidate, Candidates, summarize_explanation
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.storage.request import RunRequest

if TYPE_CHECKING:  # a check needs neither, and loading LangChain takes a second
    from greenloop.llm.client import LLMClient
    from greenloop.tools.toolkit import Toolkit

AnySuite = Suite | Checklist | ChangeSuite
T = TypeVar("T")


@dataclass
class RunPackages:
    """Packages installed for a run, names that could not be installed, and notices shown.

    `own` are names of modules of the user's project, which are not taken for packages.
    """

    installed: InstalledPackages = field(default_factory=InstalledPackages)
    unavailable: set[str] = field(default_factory=set)
    notified: set[str] = field(default_factory=set)
    own: frozenset[str] = frozenset()


@dataclass
class RepairPhase:
    """A phase until the run has `limit` repairs, with one rewrite and one fallback."""

    limit: int
    has_rewritten: bool = False
    has_fallen_back: bool = False


@dataclass
class RunState:
    """State of one run, filled step by step; the report is built from it."""

    request: RunRequest
    budget: Budget
    model: str
    sandbox: SandboxInfo
    plan: Plan = field(default_factory=Plan)
    contract: Contract | None = None
    road: Literal["contract", "plain"] = "contract"
    suite: AnySuite | None = None
    script_runs: dict[str, ScriptRun] = field(default_factory=dict)  # by source: best and last
    expected: Expectation | None = None
    red_phase: RedPhase | None = None
    review: Review = field(default_factory=Review)
    contract_review: Review | None = None  # findings on the contract
    reviewed: int = 0  # the number of the attempt that was reviewed last
    review_gap: str = ""  # why the repaired code was not reviewed
    before_repair: Candidate | None = None  # the code whose findings are being repaired
    candidates: Candidates = field(default_factory=Candidates)
    evidence: Evidence = field(default_factory=Evidence)
    green_run: TestRun | None = None
    change: Change | None = None  # without the files of the patch
    search: SearchResult | None = None
    packages: RunPackages = field(default_factory=RunPackages)
    environment: ProjectEnvironment | None = None  # of the project, if its tests ran in it
    forgery_reason: str = ""
    contradiction: str = ""  # between an example and the rest of the text
    rulings: list[str] = field(default_factory=list)
    judged_tests: set[str] = field(default_factory=set)
    disputes: list[DisputeEntry] = field(default_factory=list)
    repairs: int = 0
    repair_phase: RepairPhase = field(default_factory=lambda: RepairPhase(0))
    change_requests: list[str] = field(default_factory=list)  # done, or in progress
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    sandbox_s: float = 0.0
    grading_s: float = 0.0

    def __post_init__(self) -> None:
        self.candidates.is_active = self.is_active

    @classmethod
    def create(
        cls, request: RunRequest, settings: Settings, budget: Budget | None = None
    ) -> "RunState":
        """Return the state of a run that has opened neither model nor sandbox yet."""
        needs_model = request.kind != "check" or request.specification
        return cls(
            request,
            budget or Budget(),
            (settings.model or "not chosen") if needs_model else "none",
            SandboxInfo.describe_unopened(settings.sandbox),
            Plan.from_settings(settings),
            repair_phase=RepairPhase(settings.max_repairs),
        )

    @property
    def agreed_contract(self) -> Contract:
        """The contract of a run that has one."""
        assert self.contract is not None
        return self.contract

    @property
    def tests(self) -> Suite:
        """The test suite of a run that makes a module."""
        assert isinstance(self.suite, Suite)
        return self.suite

    @property
    def code_tests(self) -> Suite | ChangeSuite:
        """The test suite of a run that makes or changes modules."""
        assert not isinstance(self.suite, Checklist | None)
        return self.suite

    @property
    def change_suite(self) -> ChangeSuite:
        """The test suite of a run that changes a project."""
        assert not isinstance(self.suite, Suite | Checklist | None)
        return self.suite

    @property
    def checklist(self) -> Checklist:
        """The checks of a run that makes a script."""
        assert isinstance(self.suite, Checklist)
        return self.suite

    @property
    def active_tests(self) -> AnySuite:
        """The tests or checks that candidates have to pass."""
        assert self.suite is not None
        return self.suite

    @property
    def best_script_run(self) -> ScriptRun | None:
        """The last run of the best candidate of a script."""
        best = self.candidates.best
        return self.script_runs.get(best.code) if best else None

    def is_active(self, test: str) -> bool:
        """Return whether a test still counts."""
        return self.suite is None or self.suite.is_active(test)

    def drop_test(self, test: str, reason: str, *, disputed: bool) -> None:
        """Drop a test, which candidates need not pass any more; locked tests are kept."""
        self.suite = self.active_tests.drop(test, reason, disputed=disputed)
        self.update_expectation()

    def update_expectation(self, added: Iterable[str] = ()) -> None:
        """Update the expected tests, if known: without dropped ones, with `added` ones."""
        if self.expected is not None:
            ids = frozenset(item for item in (*self.expected.ids, *added) if self.is_active(item))
            self.expected = self.expected.model_copy(update={"ids": ids})

    @contextmanager
    def measure_time(self, name: Literal["sandbox_s", "grading_s"]) -> Iterator[None]:
        """Add the seconds of the block to a sum of the run."""
        started = time.monotonic()
        try:
            yield
        finally:
            setattr(self, name, getattr(self, name) + time.monotonic() - started)


@dataclass
class Run:
    """One run: settings, state, model client, tools, and the sink for its events."""

    settings: Settings
    state: RunState
    client: "LLMClient"
    kit: "Toolkit"
    emit: EventSink
    save_request: Callable[[RunRequest], None]  # stores a changed request in the run directory
    directory: Path
    asker: ChoiceAsker | None = None  # the user at a terminal

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, with the packages installed so far."""
        return self.kit.sandbox.with_packages(self.state.packages.installed)

    async def call_in_sandbox(self, work: Callable[[Sandbox], T]) -> T:
        """Call blocking work with the sandbox in a thread; cancelling ends its processes."""
        sandbox = self.sandbox
        return await complete_in_thread(lambda: work(sandbox), sandbox.interrupt_runs)

    def measure_calls(self, tool: str = "") -> CallMeter:
        """Start counting seconds and tokens of model calls."""
        return CallMeter(self.state.budget, tool)

    def add_candidate(
        self, kind: AttemptKind, code: str, explanation: str, meter: CallMeter
    ) -> None:
        """Add a version of the code that a model wrote, with what it cost."""
        candidate = Candidate(code, kind, summarize_explanation(explanation))
        self.state.candidates.add(candidate, meter.seconds, meter.tokens)

    def note(self, text: str) -> None:
        """Add a line to the reasons of the report."""
        self.state.notes.append(text)

    def notify(self, text: str) -> None:
        """Emit a notice."""
        self.emit(Notice(text))

    def notify_once(self, key: str, text: str) -> None:
        """Emit a notice, unless one with this key was emitted before."""
        if key not in self.state.packages.notified:
            self.state.packages.notified.add(key)
            self.notify(text)
