"""The tests of a report as JUnit XML, as GitHub's and GitLab's readers, and Jenkins, take it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as Xml

from greenloop.records import Failure, Report, TestEntry
from greenloop.reporting.escaping import escape_invisible, truncate
from greenloop.reporting.evidence.measures import build_measures
from greenloop.reporting.titles import report_title

_MAX_TEXT_LENGTH = 20_000
_SKIPPED_OUTCOMES = ("skipped", "xfailed", "dropped", "invalid")


def render_junit(report: Report) -> str:
    """One suite: each test, and one case named `verdict` that fails where the verdict is `failed`.

    So a run that broke off before it had tests fails too. Tests that do not count are skipped, with
    the reason; the evidence stands in the suite's properties.
    """
    failures: dict[str, Failure] = {}
    for item in report.failures:
        failures.setdefault(item.test, item)
    cases = [
        _build_verdict_case(report),
        *(_build_test_case(item, failures.get(item.id)) for item in report.tests),
    ]
    suite = Xml.Element("testsuite", _count_outcomes(cases) | _suite_attributes(report))
    suite.append(_build_properties(report))
    suite.extend(cases)
    if report.test_output.strip():
        Xml.SubElement(suite, "system-out").text = _clean_text(report.test_output)
    whole = Xml.Element("testsuites", {"name": "greenloop", **_count_outcomes(cases, is_root=True)})
    whole.append(suite)
    Xml.indent(whole, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(whole, "unicode") + "\n"


def _suite_attributes(report: Report) -> dict[str, str]:
    named = {"name": _clean_attribute(f"greenloop {report_title(report)}")}
    if started := report.timings.started_at.partition("+")[0]:
        named["timestamp"] = _clean_attribute(started)
    return named


def _count_outcomes(cases: Iterable[Xml.Element], *, is_root: bool = False) -> dict[str, str]:
    found = list(cases)

    def having(tag: str) -> str:
        return str(sum(case.find(tag) is not None for case in found))

    counts = {"tests": str(len(found)), "failures": having("failure"), "errors": having("error")}
    if not is_root:
        counts["skipped"] = having("skipped")
    counts["time"] = f"{sum(float(case.get('time', 0)) for case in found):.3f}"
    return counts


def _build_verdict_case(report: Report) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": "greenloop", "name": "verdict", "time": "0.000"})
    if report.verdict == "failed":
        why = "; ".join(report.reasons) or "the code did not get there"
        failure = {"message": _clean_attribute(why), "type": "verdict"}
        Xml.SubElement(case, "failure", failure).text = _clean_text("\n".join(report.reasons))
    return case


def _build_test_case(entry: TestEntry, failure: Failure | None) -> Xml.Element:
    file, _, name = entry.id.partition("::")
    classes, _, test = name.partition("[")[0].rpartition("::")
    parameters = name[len(name.partition("[")[0]) :]
    module = file.removesuffix(".py").replace("/", ".")
    classname = ".".join(part for part in (module, classes.replace("::", ".")) if part)
    attributes = {
        "classname": _clean_attribute(classname or "greenloop"),
        "name": _clean_attribute(f"{test}{parameters}" or file or "unnamed"),
        "time": f"{max(entry.duration_s, 0):.3f}",
    }
    case = Xml.Element("testcase", attributes)
    if entry.outcome in _SKIPPED_OUTCOMES:
        why = entry.judgement or entry.outcome
        Xml.SubElement(case, "skipped", {"message": _clean_attribute(f"{entry.outcome}: {why}")})
    elif entry.outcome != "passed":
        tag = "failure" if entry.outcome in ("failed", "xpassed") else "error"
        case.append(_build_failure(tag, entry, failure))
    return case


def _build_failure(tag: str, entry: TestEntry, failure: Failure | None) -> Xml.Element:
    kind = failure.exception if failure else entry.outcome
    said = f"{failure.exception}: {failure.message}" if failure else entry.outcome
    element = Xml.Element(
        tag, {"message": _clean_attribute(said), "type": _clean_attribute(kind or tag)}
    )
    element.text = _clean_text("\n".join([said, *_format_frames(failure)]))
    return element


def _format_frames(failure: Failure | None) -> list[str]:
    frames = failure.frames if failure else ()
    told = [f"{item.file}:{item.line}: in {item.function}\n    {item.text}" for item in frames]
    return told + ([failure.output] if failure and failure.output.strip() else [])


def _build_properties(report: Report) -> Xml.Element:
    """The verdict and the evidence, for readers that show properties."""
    properties = Xml.Element("properties")
    told: dict[str, str] = {"verdict": report.verdict}
    told |= {f"evidence.{item.name}": item.text for item in build_measures(report.evidence)}
    for name, value in told.items():
        found = {"name": name.replace(" ", "_"), "value": _clean_attribute(value)}
        Xml.SubElement(properties, "property", found)
    return properties


def _clean_attribute(text: str) -> str:
    return truncate(" ".join(escape_invisible(text).split()), 500)


def _clean_text(text: str) -> str:
    return truncate(escape_invisible(text), _MAX_TEXT_LENGTH)


def build_case(
    name: str, seconds: float = 0.0, **outcomes: Mapping[str, str] | None
) -> Xml.Element:
    """A case that passed, or that ended in `failure`, `error` or `skipped` with these attributes."""
    known = {"classname": "greenloop", "name": _clean_attribute(name), "time": f"{seconds:.3f}"}
    element = Xml.Element("testcase", known)
    for tag, attributes in outcomes.items():
        if attributes is not None:
            told = {key: _clean_attribute(value) for key, value in attributes.items()}
            Xml.SubElement(element, tag, told)
    return element


def render_suites(name: str, cases: Sequence[Xml.Element], seconds: float = 0.0) -> str:
    """The document: one suite of all cases."""
    counts = {
        "tests": str(len(cases)),
        "failures": _count_with_tag(cases, "failure"),
        "errors": _count_with_tag(cases, "error"),
        "time": f"{seconds:.3f}",
    }
    whole = Xml.Element("testsuites", {"name": "greenloop", **counts})
    named = {"name": name, "skipped": _count_with_tag(cases, "skipped")}
    Xml.SubElement(whole, "testsuite", counts | named).extend(cases)
    Xml.indent(whole, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(whole, "unicode") + "\n"


def _count_with_tag(cases: Sequence[Xml.Element], tag: str) -> str:
    return str(sum(item.find(tag) is not None for item in cases))
