"""Evaluation of a script's run: each check becomes a test."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from greenloop.records import Failure, Outcome, TestOutcome, TestRun
from greenloop.records.script_result import OutputCheck, ScriptRun
from greenloop.scripts.checks.evaluation import find_violation
from greenloop.scripts.checks.factories import build_check
from greenloop.scripts.failure import failure_from_run
from greenloop.scripts.output_excerpts import tail

INPUTS_UNCHANGED = "inputs left as they were"
_MAX_OUTPUT_LINES, _MAX_OUTPUT_CHARS = 60, 4000
_EXCEPTION_BY_KIND = {"prints": "NoOutput", "made": "FileMissing", "filled": "FileMissing"}


@dataclass
class _Evaluation:
    """Results so far. Missing output and missing files are reported once, not for each check."""

    tests: list[TestOutcome] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)  # paths of missing files; '': no output

    def add(self, test: str, outcome: Outcome, failure: Failure | None = None) -> None:
        self.tests.append(TestOutcome(id=test, outcome=outcome))
        if failure is not None:
            self.failures.append(failure)


def evaluate_checks(run: ScriptRun, checks: Sequence[OutputCheck]) -> TestRun:
    """Return the run as a test run in which each check is a test with the check's id.

    `exits with status 0` is always evaluated, and changed inputs are always a failure. After a
    failed run a check that does not hold is `skipped`: it counts as failing, but has no failure of
    its own, because the failed run explains it. The same applies to checks that a missing file or
    empty output explains.
    """
    evaluation = _Evaluation()
    status = build_check("status").id
    broken = failure_from_run(run, status)
    evaluation.add(status, "failed" if broken else "passed", broken)
    if run.changed_inputs:
        evaluation.add(INPUTS_UNCHANGED, "failed", _failure_from_changed_inputs(run))
    for check in checks:
        if check.kind not in ("status", "kept"):
            _evaluate_check(evaluation, check, run, is_successful=broken is None)
    return TestRun(
        ending=run.ending,
        detail=run.detail,
        exit_status=run.exit_status,
        tests=tuple(evaluation.tests),
        failures=tuple(evaluation.failures),
        limits_hit=run.limits_hit,
        output=_excerpt_output(run),
        duration_s=run.duration_s,
    )


def _evaluate_check(
    evaluation: _Evaluation, check: OutputCheck, run: ScriptRun, *, is_successful: bool
) -> None:
    why = find_violation(check, run)
    if not is_successful:
        lasting = check.kind not in ("silent", "rows")
        evaluation.add(check.id, "passed" if lasting and not why else "skipped")
    elif not why:
        evaluation.add(check.id, "passed")
    elif _mark_if_reported(evaluation, check, run):
        evaluation.add(check.id, "skipped")
    else:
        exception = _EXCEPTION_BY_KIND.get(check.kind, "CheckFailed")
        failure = Failure(test=check.id, phase="call", exception=exception, message=why)
        evaluation.add(check.id, "failed", failure)


def _mark_if_reported(evaluation: _Evaluation, check: OutputCheck, run: ScriptRun) -> bool:
    """Return whether missing output or a file, reported before, explains a violation; mark it."""
    has_file = any(item.path == check.file and item.size for item in run.made)
    if check.kind == "silent" or (has_file if check.file else run.stdout.strip()):
        return False
    is_known = check.file in evaluation.reported
    evaluation.reported.add(check.file)
    return is_known


def _failure_from_changed_inputs(run: ScriptRun) -> Failure:
    names = ", ".join(run.changed_inputs[:10])
    message = f"inputs are read-only, and the script changed or removed: {names}"
    return Failure(test=INPUTS_UNCHANGED, phase="call", exception="InputChanged", message=message)


def _excerpt_output(run: ScriptRun) -> str:
    """Return the last lines of both streams."""
    half = _MAX_OUTPUT_CHARS // 2
    parts = [
        tail(item, _MAX_OUTPUT_LINES, half) for item in (run.stdout, run.stderr) if item.strip()
    ]
    return "\n".join(parts)
