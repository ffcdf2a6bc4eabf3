"""What a person should look at in the code, as SARIF 2.1.0: code scanning shows it at the lines."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from greenloop.records import Finding, IntegrityFinding, Report, Survivor
from greenloop.reporting.escaping import clipped, visible
from greenloop.reporting.evidence.text import changed_line

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_HOME = "https://pypi.org/project/greenloop/"
_LEVELS: Final = {"error": "error", "warning": "warning", "style": "note"}
_RULES: Final[dict[str, tuple[str, str, str]]] = {
    "surviving-mutant": (
        "SurvivingMutant",
        "A small fault put into this line is noticed by no test.",
        "warning",
    ),
    "review": ("ReviewFinding", "The review of the code found this, and it stands.", "warning"),
    "integrity": (
        "IntegrityFinding",
        "The code reaches for what could forge the verdict of its tests.",
        "error",
    ),
}


def sarif_json(report: Report) -> str:
    """The log of one run: surviving mutants, findings of the review that stand, integrity."""
    place = _place(report)
    mutation = report.evidence.mutation
    results = [
        *(_survivor(item, place) for item in (mutation.survived if mutation else ())),
        *(_finding(item, place, report) for item in report.review if not item.resolved),
        *(_integrity(item, place) for item in report.evidence.integrity),
    ]
    run = {
        "tool": {"driver": _driver(report)},
        "invocations": [{"executionSuccessful": not _broken_off(report)}],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"verdict": report.verdict, "reasons": [_text(x) for x in report.reasons]},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _driver(report: Report) -> dict[str, Any]:
    rules = [
        {
            "id": f"greenloop/{name}",
            "name": title,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for name, (title, text, level) in _RULES.items()
    ]
    version = _text(report.environment.greenloop)
    return {"name": "greenloop", "informationUri": _HOME, "version": version, "rules": rules}


def _survivor(item: Survivor, place: str) -> dict[str, Any]:
    reached = "" if item.reached else " No test comes to this line."
    text = f"Survives as `{changed_line(item)}`.{reached} {item.question}"
    return _result("surviving-mutant", "warning", text, place, item.line, item.id)


def _finding(item: Finding, place: str, report: Report) -> dict[str, Any]:
    """With its line only where the code is still the one that was reviewed."""
    same = bool(report.attempts) and report.attempts[0].code == report.final_code
    line = item.line if same else None
    return _result("review", _LEVELS[item.severity], item.message, place, line, item.message)


def _integrity(item: IntegrityFinding, place: str) -> dict[str, Any]:
    return _result("integrity", "error", item.what, place, item.line, item.what)


def _result(
    rule: str, level: str, text: str, place: str, line: int | None, key: str
) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": place}}
    if line is not None and line >= 1:
        location["region"] = {"startLine": line}
    print_of = hashlib.sha256(f"{rule}\0{visible(key)}".encode()).hexdigest()[:32]
    return {
        "ruleId": f"greenloop/{rule}",
        "ruleIndex": list(_RULES).index(rule),
        "level": level,
        "message": {"text": _text(text) or rule},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"greenloop/v1": print_of},
    }


def _place(report: Report) -> str:
    """The code's file as an address relative to here: where it was written, or what was checked."""
    name = report.artifacts.output or report.artifacts.code or f"{report.module or 'solution'}.py"
    path = Path(visible(name))
    here = Path.cwd()
    path = path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _broken_off(report: Report) -> bool:
    """Whether the run itself came to no end: then its findings are not all there are."""
    first = (report.reasons[:1] or ("",))[0]
    return bool(re.match(r"\w+Error: |grading broke off: ", first))


def _text(text: str) -> str:
    return clipped(visible(text), 4000)
