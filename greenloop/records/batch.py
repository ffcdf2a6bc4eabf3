"""Records of batches and evaluations."""

from typing import Literal

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.report import Verdict

OutcomeKind = Literal["reached", "missed", "broken off", "refused", "unchanged", "done before"]


class BatchOutcome(Record):
    """The result of one specification.

    `kind`: the run reached the verdict of `--require` (`reached`), did not (`missed`) or ended
    early (`broken off`). There was no run if the code is unchanged since it was graded
    (`unchanged`), was edited by hand (`refused`), or was done by an earlier call (`done before`).
    `written` are the files that were written: code, tests and lock file. `sha256` is that of the
    specification with the user's tests, `seconds` the duration of the run.
    """

    id: str
    sha256: str
    kind: OutcomeKind
    exit_status: int
    verdict: Verdict | None = None
    reason: str = ""
    run_dir: str = ""
    output: str | None = None
    tests_output: str | None = None
    written: tuple[str, ...] = ()
    tests: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0
    open_choices: int = 0


class LockCheckResult(Record):
    """The check of a lock file: `drift` names the differences, `verdict` is that of a new grade.

    `open_choices` counts the choices of the specification that nobody answered.
    `note` says what else keeps the new grade below that of the lock.
    """

    lock: str
    drift: tuple[str, ...] = ()
    verdict: str | None = None
    open_choices: int = 0
    note: str = ""


class BatchTotals(Record):
    """Sums over a batch. `cost_usd` is null if a price is unknown or answers are recorded."""

    specifications: int
    reached: int = 0
    verified: int = 0
    missed: int = 0
    broken_off: int = 0
    refused: int = 0
    not_run: int = 0
    unchanged: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    is_recorded: bool = False
    seconds: float = 0.0
    ended: str = ""


GroundTruth = Literal["passed", "failed", "unknown"]


class EvalUsage(Record):
    """Usage in total or of one task. `cost_usd` is null where a price is not known."""

    calls: float = 0
    input_tokens: float = 0
    output_tokens: float = 0
    cost_usd: float | None = None
    repairs: float = 0
    seconds: float = 0.0


class TaskResult(Record):
    """The result of a task. `truth` is the outcome of the hidden tests on the final code.

    `truth` is `unknown` if they could not be run (`why` says why), null if the run ended before it
    had a verdict. `sha256` is that of the specification, `tests_sha256` that of the hidden tests.
    `isolated` counts the hidden tests whose results agree in an isolated run.
    """

    id: str
    sha256: str
    tests_sha256: str
    verdict: Verdict | None = None
    truth: GroundTruth | None = None
    why: str = ""
    exit_status: int = 0
    hidden_passed: int = 0
    hidden_failed: int = 0
    isolated: int = 0
    spent: EvalUsage = Field(default_factory=EvalUsage)
    run_dir: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the task counts in pass@1; tasks that ended early do."""
        return self.truth != "unknown"

    @property
    def is_solved(self) -> bool:
        return self.truth == "passed"


class Proportion(Record):
    """The share `count / of` with its 95% Wilson score interval; all null if `of` is 0."""

    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class VerdictRow(Record):
    """One verdict compared with the truth. Tasks whose truth is unknown do not count.

    `wrong`: of `failed`, the share whose hidden tests pass; of the others, whose hidden tests fail.
    """

    verdict: Verdict
    hidden_passed: int
    hidden_failed: int
    wrong: Proportion


class EvalSetup(Record):
    """The setup of an evaluation. `options` are the settings without budgets.

    `server` is the address of the model's server if it is not the provider's own.
    """

    tasks: str
    format: str
    model: str
    server: str | None = None
    fallback_model: str | None = None
    options: dict[str, str | int | float | None] = Field(default_factory=dict)
    greenloop: str = ""


class EvalReport(Record):
    """The results of an evaluation.

    In `pass_at_1` a task that ended early counts as not passed; tasks that were not run, or whose
    truth is `unknown`, do not count. `mean` is over the tasks that were run, its cost over those
    whose price is known.
    """

    schema_version: Literal["1"] = "1"
    setup: EvalSetup
    tasks: int
    broken_off: int = 0
    not_run: int = 0
    unknown: int = 0
    pass_at_1: Proportion
    verdicts: tuple[VerdictRow, ...] = ()
    total: EvalUsage = Field(default_factory=EvalUsage)
    mean: EvalUsage = Field(default_factory=EvalUsage)
    results: tuple[TaskResult, ...] = ()
