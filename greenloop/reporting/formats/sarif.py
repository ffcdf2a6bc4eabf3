"""Findings of a report as SARIF 2.1.0 for code scanning."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

from greenloop.records import Report
from greenloop.records.report import ENDED_EARLY
from greenloop.reporting.escaping import escape_invisible, truncate
from greenloop.reporting.evidence.survivors import (
    build_survivor_row,
    list_survivors,
)
from greenloop.reporting.formats.places import find_code_path, find_issue_path

_SCHEMA_URL = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Final = {"error": "error", "warning": "warning", "style": "note"}
_RULES: Final[dict[str, tuple[str, str, str]]] = {
    "surviving-mutant": (
        "SurvivingMutant",
        "No test detects a mutation of this line.",
        "warning",
    ),
    "review": ("ReviewFinding", "An unresolved finding of the code review.", "warning"),
    "integrity": (
        "IntegrityFinding",
        "The code accesses something that could forge the verdict of its tests.",
        "error",
    ),
    "no-grade": ("NoGrade", "A module has no tests, or cannot be checked.", "warning"),
}
_ENDED_EARLY = re.compile(rf"{ENDED_EARLY}|\w+Error: ")


def render_sarif(*reports: Report, ungraded: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a log with the surviving mutants and the review and integrity findings of reports.

    The verdict of the log is the lowest one. `ungraded` says by path why a module has no report.
    """
    verdicts = {item.verdict for item in reports}
    reasons = [next(iter(item.reasons), "") for item in reports]
    version = next((item.environment.greenloop for item in reports), "")
    run = {
        "tool": {"driver": _build_driver(version)},
        "invocations": [{"executionSuccessful": not any(map(_ENDED_EARLY.match, reasons))}],
        "columnKind": "unicodeCodePoints",
        "results": [
            *(result for item in reports for result in _list_results(item)),
            *(
                _build_result("no-grade", "warning", text, _encode_uri(path), None, path)
                for path, text in ungraded.items()
            ),
        ],
        "properties": {
            "verdict": next(
                (item for item in ("failed", "passed", "verified") if item in verdicts), ""
            ),
            "reasons": [_clean_text(reason) for item in reports for reason in item.reasons],
        },
    }
    return json.dumps({"$schema": _SCHEMA_URL, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _build_driver(version: str) -> dict[str, Any]:
    rules = [
        {
            "id": f"greenloop/{name}",
            "name": title,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for name, (title, text, level) in _RULES.items()
    ]
    return {"name": "greenloop", "version": _clean_text(version), "rules": rules}


def _list_results(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the findings; those of the review have a line only if the code is still the same."""
    uri = _encode_uri(find_code_path(report))
    for item in list_survivors(report.evidence):
        text = build_survivor_row(item).advice
        place = _encode_uri(find_code_path(report, item.path))
        yield _build_result("surviving-mutant", "warning", text, place, item.line, item.id)
    same = bool(report.attempts) and report.attempts[0].code == report.final_code
    for found in (item for item in report.review if not item.resolved):
        line, level = found.line if same else None, _LEVELS[found.severity]
        yield _build_result("review", level, found.message, uri, line, found.message)
    for issue in report.evidence.integrity:
        place = _encode_uri(find_issue_path(report, issue))
        yield _build_result("integrity", "error", issue.what, place, issue.line, issue.what)


def _build_result(
    rule: str, level: str, text: str, uri: str, line: int | None, key: str
) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line is not None and line >= 1:
        location["region"] = {"startLine": line}
    fingerprint = hashlib.sha256(f"{rule}\0{escape_invisible(key)}".encode()).hexdigest()[:32]
    return {
        "ruleId": f"greenloop/{rule}",
        "ruleIndex": list(_RULES).index(rule),
        "level": level,
        "message": {"text": _clean_text(text) or rule},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"greenloop/v1": fingerprint},
    }


def _encode_uri(name: str) -> str:
    path = Path(escape_invisible(name))
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _clean_text(text: str) -> str:
    return truncate(escape_invisible(text), 4000)
