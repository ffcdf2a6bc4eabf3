"""The report of a run. Its keys are a public interface."""

from typing import Final, Literal

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.contract import Contract
from greenloop.records.evidence import Evidence
from greenloop.records.project import Change
from greenloop.records.pytest_run import Ending, Failure
from greenloop.records.review import Finding
from greenloop.records.script_result import OutputCheck
from greenloop.records.search import Patch

SchemaVersion = Literal["2"]
Command = Literal["make", "check", "heal", "script", "change"]
Verdict = Literal["verified", "passed", "failed"]
AttemptKind = Literal["generate", "review-repair", "free-fix", "repair", "rewrite"]
ENDED_EARLY: Final = "ended early: "  # prefix of the reason if an error ended the run
NOT_KEPT: Final = "created files were not kept: "  # prefix of the reason if files are missing
Origin = Literal["generated", "given", "example", "held_out", "hardening", "peer", "answer"]


class Attempt(Record):
    """One candidate. The counts are null where it was never run.

    `based_on` is the number of the attempt that it was made from (null: none), and `remark` says
    what it changes. `outcomes` are those of its last test run, by test id. `failures` (the first
    ones, truncated), `ending` and `detail` are those of its last test run that did not pass.
    """

    n: int
    kind: AttemptKind
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    code_sha256: str
    seconds: float = 0.0
    tokens: int = 0
    based_on: int | None = None
    remark: str = ""
    code: str = ""
    outcomes: dict[str, str] = Field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    ending: str = ""
    detail: str = ""


class DisputeEntry(Record):
    """A test that was said to contradict the contract, and what the judge decided.

    `why` is the claim; `wrong` (`test` or `code`) and `because` are the answer of the judge, who
    sees the contract alone; `source` is the text of the test. Where `wrong` is `test`, the test was
    dropped. `attempt` is the number of the attempt that failed the test.
    """

    test: str
    why: str
    wrong: Literal["test", "code", "text"]
    because: str = ""
    source: str = ""
    attempt: int | None = None


class TestEntry(Record):
    """One test. `outcome` is pytest's, `dropped` if judged wrong, or `invalid` if unreadable."""

    __test__ = False

    id: str
    requirements: tuple[str, ...] = ()
    origin: Origin
    outcome: str
    duration_s: float = 0.0
    disputed: bool = False
    judgement: str | None = None

    @property
    def is_active(self) -> bool:
        return self.outcome not in ("dropped", "invalid")


class ToolUsage(Record):
    """Calls and tokens of one tool; `cost_usd` is null where a price is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Usage(ToolUsage):
    """Calls and tokens of all tools, in total and by tool."""

    by_tool: dict[str, ToolUsage] = Field(default_factory=dict)


class Timings(Record):
    """Durations in seconds. `model_s` adds up concurrent calls, so it can exceed `total_s`.

    `started_at` is in UTC (ISO 8601), '' in older reports.
    """

    started_at: str = ""
    total_s: float = 0.0
    model_s: float = 0.0
    sandbox_s: float = 0.0
    grading_s: float = 0.0


class SandboxInfo(Record):
    """The sandbox that ran the code, and its isolation in words."""

    backend: str
    isolation: str

    @classmethod
    def describe_unopened(cls, backend: str) -> "SandboxInfo":
        """Return the information that is known before the sandbox is opened."""
        return cls(backend=backend, isolation="not opened")


class ProjectEnvironment(Record):
    """The environment of a project that ran its tests: versions, folder, and pytest's plug-ins."""

    python: str
    path: str
    pytest: str
    plugins: tuple[str, ...] = ()


class Environment(Record):
    """Versions, model and sandbox of the run.

    `project` is null where greenloop's own Python ran the tests.
    """

    greenloop: str
    python: str
    model: str
    sandbox: SandboxInfo
    packages: dict[str, str] = Field(default_factory=dict)
    project: ProjectEnvironment | None = None


class Artifacts(Record):
    """Paths of the files that were written, null for others. `code` is the file that was checked.

    `applied` is the folder of the project that a change was written to, `worktree` that of its
    commit.
    """

    run_dir: str | None = None
    report: str | None = None
    html: str | None = None
    answers: str | None = None
    code: str | None = None
    best_code: str | None = None
    best_tests: str | None = None
    output: str | None = None
    tests_output: str | None = None
    record: str | None = None
    choices: str | None = None
    original: str | None = None
    made: str | None = None
    applied: str | None = None
    worktree: str | None = None


class ProducedFileInfo(Record):
    """A file that a script wrote; `size` in bytes."""

    path: str
    size: int
    sha256: str


class ScriptResult(Record):
    """The last run of the script in `final_code`, and the checks of it."""

    name: str
    exit_status: int | None = None
    ending: Ending
    stdout: str = ""
    stdout_cut: bool = False
    stderr: str = ""
    made: tuple[ProducedFileInfo, ...] = ()
    checks: tuple[OutputCheck, ...] = ()


class Report(Record):
    """The result of a run, however it ended. Scripts around coding agents expect the first six keys.

    `original` is the former text of a file that was healed. `command` is the command of the run,
    `module` the code's module; both are '' in older reports. `failures` are the first ones of the
    run in `tests`, truncated. `iterations` is 1 for the first code and 1 more for each repair or
    rewrite, 0 where no code was made; `repairs` counts only the repairs and rewrites. For a
    change of a project, `final_code` is the patch, and `test_code` its new tests.
    """

    specification: str
    final_code: str
    test_code: str
    tests_passed: bool
    test_output: str
    iterations: int
    schema_version: SchemaVersion = "2"
    road: Literal["contract", "plain"] = "contract"
    repairs: int = 0
    original: str = ""
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    contract: Contract | None = None
    tests: tuple[TestEntry, ...] = ()
    review: tuple[Finding, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    evidence: Evidence
    script: ScriptResult | None = None
    patches: tuple[Patch, ...] = ()
    usage: Usage
    timings: Timings
    environment: Environment
    artifacts: Artifacts
    command: Command | Literal[""] = ""
    module: str = ""
    failures: tuple[Failure, ...] = ()
    disputes: tuple[DisputeEntry, ...] = ()
    change: Change | None = None

    def without_own_files(self) -> "Report":
        """Return a copy without the paths of report files, for when these cannot be written."""
        artifacts = self.artifacts.model_copy(update={"report": None, "html": None})
        return self.model_copy(update={"artifacts": artifacts})


def meets_requirement(report: Report, require: Literal["verified", "passed"] | None) -> bool:
    """Return whether the verdict is at least `require`.

    The default is `verified` for a check, else `passed`. A change with nothing to grade only has to
    pass its tests, whatever is required.
    """
    is_ungraded = report.change is not None and bool(report.change.nothing_to_grade)
    default = "verified" if report.command == "check" else "passed"
    return is_enough(report.verdict, "passed" if is_ungraded else require or default)


def is_enough(verdict: str, require: str) -> bool:
    """Return whether a verdict is at least the required one, `verified` or `passed`."""
    return verdict == "verified" or (require == "passed" and verdict == "passed")
