"""Results of a batch: one line of `results.jsonl` for each specification, and sums."""

from typing import Literal

from greenloop.records.base import Record
from greenloop.records.report import Verdict

OutcomeKind = Literal["reached", "missed", "broken off", "refused", "unchanged", "done before"]


class BatchOutcome(Record):
    """The result of one specification.

    `kind`: the run reached what `--require` asks (`reached`), did not (`missed`) or ended early
    (`broken off`); or there was none, as the code is unchanged since it was graded (`unchanged`),
    was edited by hand (`refused`), or was done by an earlier call of this batch (`done before`).
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
    """One lock file: `drift` names what differs from it, `verdict` is that of a new grade.

    `open_choices` counts what the specification leaves open and nobody answered.
    `note` says what else keeps the new grade below that of the lock.
    """

    lock: str
    drift: tuple[str, ...] = ()
    verdict: str | None = None
    open_choices: int = 0
    note: str = ""


class BatchTotals(Record):
    """Sums over a batch. `cost_usd` is null where a price is not known."""

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
    seconds: float = 0.0
    ended: str = ""
