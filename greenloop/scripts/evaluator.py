"""A script's run judged: each check a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from greenloop.records import Failure, Outcome, TestOutcome, TestRun
from greenloop.records.output_check import OutputCheck
from greenloop.records.script_result import ScriptRun
from greenloop.scripts.checks.evaluation import amiss
from greenloop.scripts.checks.factories import ends_well
from greenloop.scripts.failure import bad_end
from greenloop.scripts.output_excerpts import tail

INPUTS_KEPT = "inputs left as they were"
_OUTPUT_LINES, _OUTPUT = 60, 4000
_EXCEPTIONS = {"prints": "NoOutput", "made": "FileMissing", "filled": "FileMissing"}


@dataclass
class _Judged:
    """What the checks came to so far. `silent` and `absent`: told once, not again for each check."""

    tests: list[TestOutcome] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    told_silent: bool = False
    told_absent: set[str] = field(default_factory=set)

    def enter(self, test: str, outcome: Outcome, failure: Failure | None = None) -> None:
        self.tests.append(TestOutcome(id=test, outcome=outcome))
        if failure is not None:
            self.failures.append(failure)


def judge(run: ScriptRun, checks: Sequence[OutputCheck]) -> TestRun:
    """The run in the terms of the loop: each check a test of the check's id.

    `exit status 0` is judged whether it stands in `checks` or not, and that inputs were left alone
    where they were not. After a bad end a check that does not hold is `skipped`: not passed, so that
    it counts as failing, but without a failure of its own, for the bad end explains it. The same
    holds for what a missing file or an empty output explains.
    """
    judged = _Judged()
    broken = bad_end(run, ends_well().id)
    judged.enter(ends_well().id, "failed" if broken else "passed", broken)
    if run.changed_inputs:
        judged.enter(INPUTS_KEPT, "failed", _inputs_changed(run))
    for check in checks:
        if check.kind not in ("status", "kept"):
            _look(judged, check, run, ended=broken is None)
    return TestRun(
        ending=run.ending,
        detail=run.detail,
        exit_status=run.exit_status,
        tests=tuple(judged.tests),
        failures=tuple(judged.failures),
        limits_hit=run.limits_hit,
        output=_output(run),
        duration_s=run.duration_s,
    )


def _look(judged: _Judged, check: OutputCheck, run: ScriptRun, *, ended: bool) -> None:
    why = amiss(check, run)
    if not ended:
        lasting = check.kind not in ("silent", "rows")
        judged.enter(check.id, "passed" if lasting and not why else "skipped")
    elif not why:
        judged.enter(check.id, "passed")
    elif _told_already(judged, check, run):
        judged.enter(check.id, "skipped")
    else:
        judged.enter(check.id, "failed", _failure(check, why))


def _told_already(judged: _Judged, check: OutputCheck, run: ScriptRun) -> bool:
    """Whether an earlier failure is the cause: that nothing was printed, or the file not made."""
    if check.kind == "silent":
        return False
    if not check.file:
        told, judged.told_silent = judged.told_silent, judged.told_silent or not run.stdout.strip()
        return told
    if any(item.path == check.file and item.size for item in run.made):
        return False
    told = check.file in judged.told_absent
    judged.told_absent.add(check.file)
    return told


def _failure(check: OutputCheck, why: str) -> Failure:
    exception = _EXCEPTIONS.get(check.kind, "CheckFailed")
    return Failure(test=check.id, phase="call", exception=exception, message=why)


def _inputs_changed(run: ScriptRun) -> Failure:
    names = ", ".join(run.changed_inputs[:10])
    message = f"inputs are read-only, and the script changed or removed: {names}"
    return Failure(test=INPUTS_KEPT, phase="call", exception="InputChanged", message=message)


def _output(run: ScriptRun) -> str:
    """The ends of both streams, cut: what a person sees of the run."""
    half = _OUTPUT // 2
    parts = [tail(item, _OUTPUT_LINES, half) for item in (run.stdout, run.stderr) if item.strip()]
    return "\n".join(parts)
