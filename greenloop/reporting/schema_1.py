"""Reports of schema 1, as greenloop 0.1.0 wrote them, in the keys of schema 2."""

from __future__ import annotations

from typing import Any, Final

_PIECES: Final = {
    "hollow_run": "empty_bodies",
    "controls": "assertion_mutation",
    "outside": "memorization",
    "sealed": "held_out",
    "split": "isolated",
}
_MEMORIZATION_KEYS: Final = {
    "asked": "calls",
    "otherwise": "differing",
    "like_them": "variants",
    "by_heart": "functions",
}
_THRESHOLDS: Final = {
    "sealed_agreement": "held_out_agreement",
    "controlled": "assertion_mutation",
}
_ORIGINS: Final = {"sealed": "held_out"}


def upgrade_report(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report of schema 1 as one of schema 2; any other is returned as it is.

    Values that do not have the form of schema 1 are kept, for validation to report them.
    """
    if report.get("schema_version") != "1":
        return report
    tests = report.get("tests")
    return {
        **report,
        "schema_version": "2",
        "evidence": _upgrade_evidence(report.get("evidence")),
        **_upgrade_iterations(report),
        **({"tests": [_upgrade_test(item) for item in tests]} if isinstance(tests, list) else {}),
    }


def _upgrade_iterations(report: dict[str, Any]) -> dict[str, Any]:
    """Return `iterations`, which counted repairs alone, as both counts of today."""
    repairs = report.get("iterations")
    if not isinstance(repairs, int):
        return {}
    return {"repairs": repairs, "iterations": repairs + 1 if report.get("attempts") else repairs}


def _upgrade_evidence(evidence: Any) -> Any:
    renamed = _rename_keys(evidence, _PIECES)
    if not isinstance(renamed, dict):
        return renamed
    tables = {
        "memorization": _MEMORIZATION_KEYS,
        "thresholds": _THRESHOLDS,
        "seconds": _PIECES,
        "not_measured": _PIECES,
    }
    tabled = {
        key: _rename_keys(renamed[key], table) for key, table in tables.items() if key in renamed
    }
    return renamed | tabled | _upgrade_isolation(renamed.get("isolated"), tabled)


def _upgrade_isolation(split: Any, evidence: dict[str, Any]) -> dict[str, Any]:
    """Return what 0.1.0 found with the tests and the code in two processes, as text.

    It counted no tests, so that there is no record of today's form.
    """
    if not isinstance(split, dict) or not isinstance(evidence.get("not_measured", {}), dict):
        return {}
    names = ", ".join(map(str, split.get("only_beside") or ()))
    found = f"passes only in the process of its tests: {names}" if names else split.get("why")
    text = f"with the code in another process, in 0.1.0: {found or 'the tests passed too'}"
    return {
        "isolated": None,
        "not_measured": {**evidence.get("not_measured", {}), "isolated": text},
    }


def _upgrade_test(test: Any) -> Any:
    if not isinstance(test, dict) or test.get("origin") not in _ORIGINS:
        return test
    return {
        **test,
        "origin": _ORIGINS[test["origin"]],
        "id": str(test.get("id")).replace("sealed::", "held_out::", 1),
    }


def _rename_keys(content: Any, names: dict[str, str]) -> Any:
    if not isinstance(content, dict):
        return content
    return {names.get(key, key): value for key, value in content.items()}
