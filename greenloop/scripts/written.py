"""Checks in the form that they are proposed in, so that a person can edit them."""

from __future__ import annotations

from greenloop.records import OutputCheck

_BY_ITSELF = ("status", "kept", "schema")  # asked for always, or typed as an option
Written = dict[str, object]


def written(check: OutputCheck) -> Written | None:
    """One item of the list that `read_proposed` reads; None where it has no such form."""
    if check.kind in _BY_ITSELF:
        return None
    if check.kind == "silent":
        return {"check": "silent"}
    where: Written = {"check": "file", "path": check.file} if check.file else {"check": "stdout"}
    return where | _asked(check)


def _asked(check: OutputCheck) -> Written:
    asked: dict[str, Written] = {
        "holds": {"contains": check.text},
        "matches": {"matches": check.text},
        "rows": {"rows": check.rows},
        "columns": {"columns": list(check.columns)},
        "json": {"json": True},
        "filled": {"non_empty": True},
    }
    return asked.get(check.kind, {})  # `prints` and `made` ask for no more than that
