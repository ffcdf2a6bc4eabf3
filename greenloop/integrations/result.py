"""The result of a run as integrations return it: a summary of the report, and its path."""

from typing import Literal

from pydantic import Field

from greenloop.app.gate.run import GateAnswer
from greenloop.records import Record, Report
from greenloop.records.report import Verdict, meets_requirement
from greenloop.reporting.evidence.survivors import describe_fault, list_survivors

_MAX_ITEMS, _MAX_LINE_LENGTH = 10, 300


class RunResult(Record):
    """The outcome of one run."""

    verdict: Verdict = Field(
        description="verified: every piece of evidence reaches its threshold; passed: every active "
        "test passes; failed: neither"
    )
    reached: bool = Field(description="whether the verdict is what is required here")
    reasons: tuple[str, ...] = Field(description="why the verdict is not better")
    module: str = Field(description="the module's name; '' of a script")
    code: str = Field(
        description="the best code so far, whatever the verdict; of a change the patch"
    )
    tests: str = Field(description="its tests; '' of a script")
    passed: int = Field(description="tests that pass")
    not_passed: int = Field(description="active tests that do not pass")
    failures: tuple[str, ...] = Field(description="why tests do not pass, the first few")
    survived: tuple[str, ...] = Field(
        description="faults put into the code that no test notices, the first few"
    )
    repairs: int = Field(description="number of repairs and rewrites")
    calls: int = Field(description="calls of the model")
    tokens: int
    cost_usd: float | None = Field(description="null if the price is unknown")
    seconds: float
    run_dir: str = Field(description="the run's directory, for `greenloop resume`")
    report: str = Field(description="the report as a page (HTML); report.json is beside it")


def build_run_result(report: Report, require: Literal["verified", "passed"] | None) -> RunResult:
    """Return the result of a run that has ended."""
    artifacts, active = report.artifacts, [t for t in report.tests if t.is_active]
    passed = sum(item.outcome == "passed" for item in active)
    return RunResult(
        verdict=report.verdict,
        reached=meets_requirement(report, require),
        reasons=report.reasons,
        module="" if report.script else report.module,
        code=report.final_code,
        tests=report.test_code,
        passed=passed,
        not_passed=len(active) - passed,
        failures=tuple(
            truncate_line(f"{item.test}: {item.exception}: {item.message}", _MAX_LINE_LENGTH)
            for item in report.failures[:_MAX_ITEMS]
        ),
        survived=tuple(
            truncate_line(describe_fault(item), _MAX_LINE_LENGTH)
            for item in list_survivors(report.evidence)[:_MAX_ITEMS]
        ),
        repairs=report.repairs,
        calls=report.usage.calls,
        tokens=report.usage.input_tokens + report.usage.output_tokens,
        cost_usd=report.usage.cost_usd,
        seconds=report.timings.total_s,
        run_dir=artifacts.run_dir or "",
        report=artifacts.html or "",
    )


class ChangesResult(Record):
    """What the changes of a project lack."""

    is_done: bool = Field(description="whether there is nothing to fix")
    message: str = Field(description="what to fix, a line each; '' if nothing")
    note: str = Field(
        description="what a person should know: changed expectations, what was left out"
    )
    verdict: Verdict | None = Field(description="null where nothing has changed")
    report: str = Field(description="the report as a page (HTML); '' where there is none")


def build_changes_result(answer: GateAnswer) -> ChangesResult:
    """Return the result of an inspection of the changes of a project."""
    report = answer.report
    return ChangesResult(
        is_done=not answer.message,
        message=answer.message,
        note=answer.note,
        verdict=report.verdict if report else None,
        report=(report.artifacts.html or "") if report else "",
    )


def truncate_line(text: str, max_length: int = 500) -> str:
    """Return the text in one line of limited length."""
    line = " ".join(text.split())
    return line if len(line) <= max_length else f"{line[:max_length]}…"
