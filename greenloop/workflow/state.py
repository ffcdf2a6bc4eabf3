"""What a run knows at any moment. Steps change it; the report is made from it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from greenloop.grading import Plan
from greenloop.llm.budget import Budget
from greenloop.records import (
    Contract,
    DisputeEntry,
    Evidence,
    Expectation,
    RedPhase,
    Review,
    SandboxInfo,
    ScriptRun,
    SearchResult,
    TestRun,
)
from greenloop.testsuite import Suite
from greenloop.workflow.candidates import Candidates
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.setup.packages import RunPackages
from greenloop.workflow.storage.request import RunRequest, digest


class ScriptRuns:
    """What scripts showed when they were run, by the digest of their text.

    Only the best's and the last are kept: they hold the files that were made.
    """

    def __init__(self) -> None:
        self._runs: dict[str, ScriptRun] = {}

    def keep(self, code: str, run: ScriptRun, best: str | None) -> None:
        kept = {digest(code), digest(best or "")}
        self._runs = {name: item for name, item in self._runs.items() if name in kept}
        self._runs[digest(code)] = run

    def get(self, code: str) -> ScriptRun | None:
        """The last run of a script, None where it is not kept."""
        return self._runs.get(digest(code))


@dataclass
class RunState:
    """One run's knowledge, filled step by step."""

    request: RunRequest
    budget: Budget
    model: str
    sandbox: SandboxInfo
    plan: Plan = field(default_factory=Plan)
    contract: Contract | None = None
    suite: Suite | Checklist | None = None
    script_runs: ScriptRuns = field(default_factory=ScriptRuns)
    expected: Expectation | None = None
    red_phase: RedPhase | None = None
    review: Review = field(default_factory=Review)
    candidates: Candidates = field(default_factory=Candidates)
    evidence: Evidence = field(default_factory=Evidence)
    green_run: TestRun | None = None
    search: SearchResult | None = None
    packages: RunPackages = field(default_factory=RunPackages)
    forgery_reason: str = ""
    rulings: list[str] = field(default_factory=list)
    judged_tests: set[str] = field(default_factory=set)
    disputes: list[DisputeEntry] = field(default_factory=list)
    repairs: int = 0
    change_requests: list[str] = field(
        default_factory=list
    )  # of a healed file's owner, granted or in hand
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    sandbox_s: float = 0.0
    grading_s: float = 0.0

    @property
    def agreed_contract(self) -> Contract:
        """The contract, once there is one."""
        assert self.contract is not None
        return self.contract

    @property
    def tests(self) -> Suite:
        """The suite of a module, once there is one."""
        assert isinstance(self.suite, Suite)
        return self.suite

    @property
    def active_tests(self) -> Suite | Checklist:
        """What candidates are held to, once there is something: tests, or a script's checks."""
        assert self.suite is not None
        return self.suite

    def is_active(self, test: str) -> bool:
        """Whether a test still counts."""
        return self.suite is None or self.suite.is_active(test)
