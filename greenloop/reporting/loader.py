"""A saved report, read again: of this version, of an older one, or of one with more keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from greenloop.errors import InputError
from greenloop.records import Report
from greenloop.reporting.escaping import line_of

_ROUNDS = 20  # of unknown keys that are taken out; each may hide others


def read_report(place: Path) -> Report:
    """The report in a run directory, or in a file.

    Raises:
        InputError: there is none, or it is something else; one line that says which.
    """
    path = place / "report.json" if place.is_dir() else place
    if not path.is_file():
        raise InputError(_absent(place))
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {line_of(str(error))}") from None
    if not isinstance(found, dict) or "verdict" not in found or "evidence" not in found:
        raise InputError(f"{path} is JSON, but no report of greenloop's")
    return _understood(found, path)


def _absent(place: Path) -> str:
    if not place.exists():
        return f"{place} is not there"
    if place.is_dir() and (place / "run.json").is_file():
        return f"{place} has no report: the run did not end; go on with `greenloop resume {place}`"
    return f"{place} has no report: no report.json is in it"


def _understood(found: dict[str, Any], path: Path) -> Report:
    """Keys that a later version added are passed over; all else has to fit."""
    for _ in range(_ROUNDS):
        try:
            return Report.model_validate_json(json.dumps(found))
        except ValidationError as error:
            unknown = [item["loc"] for item in error.errors() if item["type"] == "extra_forbidden"]
            if not unknown:
                raise InputError(f"{path} cannot be read: {_told(error)}") from None
            for loc in unknown:
                _take_out(found, loc)
    raise InputError(f"{path} cannot be read: it is of a version that is not understood")


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the whole"
    if where == "schema_version":
        return f"its schema_version is {line_of(repr(first['input']), 40)}; this one reads 1"
    return f"{line_of(where, 80)}: {line_of(first['msg'])}"


def _take_out(found: Any, loc: Sequence[int | str]) -> None:
    for key in loc[:-1]:
        found = found[key]
    del found[loc[-1]]
