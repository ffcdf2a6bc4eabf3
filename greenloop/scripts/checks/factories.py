"""Checks of a script's output, each with the name that it is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from greenloop.records.output_check import CheckOrigin, OutputCheck, is_table

_LONGEST = 70


def ends_well() -> OutputCheck:
    """The script ends by itself, with status 0."""
    return OutputCheck(id="exit status 0", kind="status")


def prints_something(origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id="prints something", kind="prints", origin=origin)


def prints_nothing(origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id="prints nothing", kind="silent", origin=origin)


def holds(text: str, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    name = _name(file, f"prints {text!r}", f"holds {text!r}")
    return OutputCheck(id=name, kind="holds", origin=origin, file=file, text=text)


def matches(pattern: str, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    name = _name(file, f"prints /{pattern}/", f"matches /{pattern}/")
    return OutputCheck(id=name, kind="matches", origin=origin, file=file, text=pattern)


def made(file: str, origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id=_name(file, "", "made"), kind="made", origin=origin, file=file)


def not_empty(file: str, origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id=_name(file, "", "not empty"), kind="filled", origin=origin, file=file)


def has_rows(rows: int, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    """Data rows of a CSV (by its name), lines of anything else."""
    noun = "row" if is_table(file) else "line"
    count = f"{rows} {noun}{'' if rows == 1 else 's'}"
    name = _name(file, f"prints {count}", count)
    return OutputCheck(id=name, kind="rows", origin=origin, file=file, rows=rows)


def is_json(file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id=_name(file, "prints json", "json"), kind="json", origin=origin, file=file)


def has_columns(
    columns: Sequence[str], file: str = "", origin: CheckOrigin = "given"
) -> OutputCheck:
    what = f"csv with columns {', '.join(columns)}"
    name = _name(file, f"prints {what}", what)
    return OutputCheck(id=name, kind="columns", origin=origin, file=file, columns=tuple(columns))


def fits_schema(schema: object, name: str, file: str = "") -> OutputCheck:
    """Valid under a JSON Schema, which `name` tells apart from others."""
    text = json.dumps(schema, ensure_ascii=False)
    what = f"json as in {name}"
    return OutputCheck(id=_name(file, f"prints {what}", what), kind="schema", file=file, text=text)


def complete(checks: Sequence[OutputCheck], *, prints: bool) -> tuple[OutputCheck, ...]:
    """The checks of a run: `exit status 0` first, then the others, each id once.

    `prints something` is among them where `prints` is so and no check asks for silence. Of two with
    one id the person's stays.
    """
    return tuple(_once([*_standing(checks, prints), *checks]))


def _standing(checks: Sequence[OutputCheck], prints: bool) -> list[OutputCheck]:
    wanted = prints and not any(item.kind == "silent" for item in checks)
    return [ends_well(), prints_something()] if wanted else [ends_well()]


def _once(checks: Sequence[OutputCheck]) -> Iterator[OutputCheck]:
    seen: set[str] = set()
    given_first = sorted(checks, key=lambda item: item.origin != "given")
    for item in given_first:
        if item.id not in seen:
            seen.add(item.id)
            yield item


def _name(file: str, of_output: str, of_file: str) -> str:
    """One line, and short; where it had to be cut, a digest keeps it unique."""
    name = " ".join((f"{file}: {of_file}" if file else of_output).split())
    whole = f"{file}: {of_file}" if file else of_output
    if len(name) <= _LONGEST and name == whole:
        return name
    return f"{name[:_LONGEST]}… {hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:6]}"
