"""What an evaluation found: a line of `eval.jsonl`, and the report over all of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.pytest_run import ProcessMode
from greenloop.records.report import Verdict

GroundTruth = Literal["passed", "failed", "unknown"]


class EvalUsage(Record):
    """What was spent, in all or on one task. `cost_usd` is null where a price is not known."""

    calls: float = 0
    input_tokens: float = 0
    output_tokens: float = 0
    cost_usd: float | None = None
    repairs: float = 0
    seconds: float = 0.0


class TaskResult(Record):
    """One task. `truth` is what the hidden tests say of the final code; `unknown` where they could
    not say anything (`why`), null where the run broke off before it had a verdict.

    `sha256` is that of the specification, `tests_sha256` that of the hidden tests. `form`: the
    hidden tests and the code in one process, or split over two. `seconds` are those of the call of
    the command in which the run ended.
    """

    id: str
    sha256: str
    tests_sha256: str
    verdict: Verdict | None = None
    truth: GroundTruth | None = None
    why: str = ""
    form: ProcessMode | None = None
    exit_status: int = 0
    hidden_passed: int = 0
    hidden_failed: int = 0
    spent: EvalUsage = Field(default_factory=EvalUsage)
    run_dir: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether it stands in pass@1: what broke off does, as not passed."""
        return self.truth != "unknown"

    @property
    def is_solved(self) -> bool:
        return self.truth == "passed"


class Proportion(Record):
    """`count` of `of`, with its 95% Wilson score interval; null where there is nothing to share."""

    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class VerdictRow(Record):
    """One verdict against the truth. `wrong`: of `failed`, the share whose hidden tests pass; of
    the others, the share whose hidden tests fail. Tasks whose truth is unknown are not in it."""

    verdict: Verdict
    hidden_passed: int
    hidden_failed: int
    wrong: Proportion


class EvalSetup(Record):
    """What was evaluated. `options` are the settings that were in force, budgets left out; `server`
    is where the model answers, where that is not its provider."""

    tasks: str
    format: str
    model: str
    server: str | None = None
    fallback_model: str | None = None
    options: dict[str, str | int | float | None] = Field(default_factory=dict)
    greenloop: str = ""


class EvalReport(Record):
    """An evaluation. In `pass_at_1` a task that broke off counts as not passed; one that was not
    run, or whose hidden tests could say nothing (`unknown`), is not in it.

    `mean` is over the tasks that were run; its cost over those whose price is known.
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
    """Two evaluations on the tasks that both have, the same in both. `difference` is pass@1 of `b`
    minus that of `a`, between `low` and `high` (95%); `p` is that of McNemar's exact test.

    `a_alone` and `b_alone` are the tasks that one solved and the other did not; `left_out` those
    that cannot be compared, and why.
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
