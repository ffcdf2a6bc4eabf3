"""Results of an evaluation: one line of `eval.jsonl` for each task, and the report of all."""

from typing import Literal

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.report import Verdict

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
    """One task. `truth` is the outcome of the hidden tests on the final code.

    It is `unknown` where they could not be run (`why` says why), null where the run ended before it
    had a verdict. `sha256` is that of the specification, `tests_sha256` that of the hidden tests.
    `isolated`: hidden tests whose results agree apart from the tests.
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
        """Whether it counts in pass@1, as runs that ended early do."""
        return self.truth != "unknown"

    @property
    def is_solved(self) -> bool:
        return self.truth == "passed"


class Proportion(Record):
    """`count` of `of`, with its 95% Wilson score interval; null where `of` is 0."""

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
    """What was evaluated. `options` are the settings without budgets.

    `server` is the address of the model where it is not its provider's.
    """

    tasks: str
    format: str
    model: str
    server: str | None = None
    fallback_model: str | None = None
    options: dict[str, str | int | float | None] = Field(default_factory=dict)
    greenloop: str = ""


class EvalReport(Record):
    """An evaluation.

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


class Comparison(Record):
    """Two evaluations compared on the tasks that are the same in both.

    `difference` is pass@1 of `b` minus that of `a`, between `low` and `high` (95%); `p` is that of
    McNemar's exact test. `a_alone` and `b_alone` are the tasks that only one solved; `left_out`
    says which tasks cannot be compared, and why.
    """

    schema_version: Literal["1"] = "1"
    a: EvalSetup
    b: EvalSetup
    tasks: int
    a_pass_at_1: Proportion
    b_pass_at_1: Proportion
    both: int
    neither: int
    a_alone: tuple[str, ...]
    b_alone: tuple[str, ...]
    difference: float
    low: float
    high: float
    p: float
    shown: bool
    a_mean: EvalUsage
    b_mean: EvalUsage
    left_out: tuple[str, ...] = ()
