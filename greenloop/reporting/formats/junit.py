"""JUnit XML for the test readers of GitHub, GitLab and Jenkins."""

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Literal

import junitparser
from junitparser import TestCase

from greenloop.records import Failure, Report, TestEntry
from greenloop.records.report import meets_requirement
from greenloop.reporting.escaping import escape_invisible, flatten, truncate
from greenloop.reporting.evidence.text import list_first_steps
from greenloop.reporting.summary import report_title
from greenloop.reporting.traceability import list_evidence_rows

_MAX_TEXT_LENGTH = 20_000
_MAX_ATTRIBUTE_LENGTH = 500
JunitResult = Literal["failure", "error", "skipped"]
_SKIPPED_OUTCOMES = ("skipped", "xfailed", "dropped", "invalid")


def junit_case(
    name: str,
    seconds: float = 0.0,
    result: JunitResult | None = None,
    message: str = "",
    type: str = "",
    text: str = "",
    classname: str = "greenloop",
) -> TestCase:
    """Return one `testcase`; `result` names the element that says why it did not pass."""
    kinds = {"failure": junitparser.Failure, "error": junitparser.Error}
    case = junitparser.TestCase(
        _clean_attribute(name), _clean_attribute(classname), round(seconds, 3)
    )
    if result:
        kind = kinds.get(result, junitparser.Skipped)
        element = kind(_clean_attribute(message), _clean_attribute(type))
        element.text = _clean_text(text)
        case.append(element)
    return case


def render_junit(report: Report, require: Literal["verified", "passed"] | None = None) -> str:
    """Return one suite with a case for each test, and a case `verdict`.

    `verdict` fails if the verdict is below the required one (exit status 1), even if no test was
    run; the failure says what is short and what to do first. Tests that do not count are skipped,
    with the reason; the evidence is in the suite's properties.
    """
    verdict = junit_case("verdict")
    if not meets_requirement(report, require):
        why = "; ".join((report.verdict, *report.reasons))
        text = "\n".join(list_first_steps(report))
        verdict = junit_case("verdict", 0.0, "failure", why, "verdict", text)
    failures = {item.test: item for item in reversed(report.failures)}
    measured = {f"evidence.{item.name}": item.text for item in list_evidence_rows(report)}
    return render_suite(
        f"greenloop {report_title(report)}",
        [verdict, *(_test_case(item, failures.get(item.id)) for item in report.tests)],
        timestamp=report.timings.started_at.partition("+")[0],
        properties={"verdict": report.verdict, **measured},
        output=report.test_output,
    )


def render_suite(
    name: str,
    cases: Iterable[TestCase],
    *,
    seconds: float | None = None,
    timestamp: str = "",
    properties: Mapping[str, str] | None = None,
    output: str = "",
) -> str:
    """Return the document; `seconds` is the suite's duration if it is not the cases' sum."""
    suite = junitparser.TestSuite(_clean_attribute(name))
    for key, value in (properties or {}).items():
        suite.add_property(key.replace(" ", "_"), _clean_attribute(value))
    for case in cases:
        suite.append(case)
    if output.strip():
        suite.append(junitparser.SystemOut(_clean_text(output)))
    suite.update_statistics()
    if seconds is not None:
        suite.time = round(seconds, 3)
    if timestamp:
        suite.timestamp = _clean_attribute(timestamp)
    document = junitparser.JUnitXml("greenloop")
    # Not update_statistics(): the schema has no `skipped` at this level.
    document.tests, document.failures = suite.tests, suite.failures
    document.errors, document.time = suite.errors, suite.time
    document.add_testsuite(suite)
    buffer = BytesIO()
    document.write(buffer, pretty=True)
    return buffer.getvalue().decode()


def _test_case(entry: TestEntry, failure: Failure | None) -> TestCase:
    file, _, name = entry.id.partition("::")
    classes, _, test = name.partition("[")[0].rpartition("::")
    parameters = name[len(name.partition("[")[0]) :]
    module = file.removesuffix(".py").replace("/", ".")
    classname = ".".join(part for part in (module, classes.replace("::", ".")) if part)
    name, classname = f"{test}{parameters}" or file or "unnamed", classname or "greenloop"
    seconds = max(entry.duration_s, 0)
    if entry.outcome == "passed":
        return junit_case(name, seconds, classname=classname)
    if entry.outcome in _SKIPPED_OUTCOMES:
        why = f"{entry.outcome}: {entry.judgement}" if entry.judgement else entry.outcome
        return junit_case(name, seconds, "skipped", why, classname=classname)
    message = f"{failure.exception}: {failure.message}" if failure else entry.outcome
    return junit_case(
        name,
        seconds,
        "failure" if entry.outcome in ("failed", "xpassed") else "error",
        message,
        failure.exception if failure else entry.outcome,
        "\n".join([message, *(_failure_details(failure) if failure else ())]),
        classname,
    )


def _failure_details(failure: Failure) -> Iterator[str]:
    """Yield the frames of a failure and what the test printed."""
    for frame in failure.frames:
        yield f"{frame.file}:{frame.line}: in {frame.function}\n    {frame.text}"
    if failure.output.strip():
        yield failure.output


def _clean_attribute(text: str) -> str:
    return flatten(text, _MAX_ATTRIBUTE_LENGTH)


def _clean_text(text: str) -> str:
    return truncate(escape_invisible(text), _MAX_TEXT_LENGTH)
