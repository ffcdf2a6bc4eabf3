"""What became of one specification of a batch: a line of `results.jsonl`."""

from __future__ import annotations

from typing import Literal

from greenloop.records.base import Record
from greenloop.records.report import Verdict

OutcomeKind = Literal["reached", "missed", "broken off", "refused", "unchanged", "done before"]


class BatchOutcome(Record):
    """`kind`: it reached what `--require` asks, it did not, or its run broke off; or nothing was
    done: its code is there as it was graded (`unchanged`), it was changed by hand and is not written
    over (`refused`), or it ended in an earlier call of this batch. `written` are the files that were
    written, code, tests and lock file. `sha256` is that of the specification with the person's tests, `exit_status` that of the
    run, `seconds` its duration.
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


class LockCheckResult(Record):
    """One lock file: what is not as it says; () where all is. `verdict` is that of now."""

    lock: str
    drift: tuple[str, ...] = ()
    verdict: str | None = None


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
