"""Constructors for checks of a script's output, each with its id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from greenloop.records.output_check import CheckOrigin, OutputCheck, is_table

_MAX_ID_CHARS = 70


def expect_success() -> OutputCheck:
    """Expect that the script ends by itself, with status 0."""
    return OutputCheck(id="exit status 0", kind="status")


def expect_output(origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id="prints something", kind="prints", origin=origin)


def expect_no_output(origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id="prints nothing", kind="silent", origin=origin)


def expect_text(text: str, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    name = _build_id(file, f"prints {text!r}", f"holds {text!r}")
    return OutputCheck(id=name, kind="holds", origin=origin, file=file, text=text)


def expect_match(pattern: str, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    name = _build_id(file, f"prints /{pattern}/", f"matches /{pattern}/")
    return OutputCheck(id=name, kind="matches", origin=origin, file=file, text=pattern)


def expect_file(file: str, origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id=_build_id(file, "", "made"), kind="made", origin=origin, file=file)


def expect_non_empty_file(file: str, origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(id=_build_id(file, "", "not empty"), kind="filled", origin=origin, file=file)


def expect_rows(rows: int, file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    """Expect data rows in a CSV (by the file's suffix), lines in any other output."""
    noun = "row" if is_table(file) else "line"
    count = f"{rows} {noun}{'' if rows == 1 else 's'}"
    name = _build_id(file, f"prints {count}", count)
    return OutputCheck(id=name, kind="rows", origin=origin, file=file, rows=rows)


def expect_json(file: str = "", origin: CheckOrigin = "given") -> OutputCheck:
    return OutputCheck(
        id=_build_id(file, "prints json", "json"), kind="json", origin=origin, file=file
    )


def expect_columns(
    columns: Sequence[str], file: str = "", origin: CheckOrigin = "given"
) -> OutputCheck:
    what = f"csv with columns {', '.join(columns)}"
    name = _build_id(file, f"prints {what}", what)
    return OutputCheck(id=name, kind="columns", origin=origin, file=file, columns=tuple(columns))


def expect_schema(schema: object, name: str, file: str = "") -> OutputCheck:
    """Expect JSON that is valid under a schema; `name` is the schema's."""
    text = json.dumps(schema, ensure_ascii=False)
    what = f"json as in {name}"
    return OutputCheck(
        id=_build_id(file, f"prints {what}", what), kind="schema", file=file, text=text
    )


def complete_checks(
    checks: Sequence[OutputCheck], *, requires_output: bool
) -> tuple[OutputCheck, ...]:
    """Return the checks of a run: `exit status 0` first, then the others, each id once.

    `prints something` is added if `requires_output` is true and no check expects silence. Of two checks
    with the same id the user's is kept.
    """
    return tuple(_deduplicate([*_default_checks(checks, requires_output), *checks]))


def _default_checks(checks: Sequence[OutputCheck], requires_output: bool) -> list[OutputCheck]:
    wanted = requires_output and not any(item.kind == "silent" for item in checks)
    return [expect_success(), expect_output()] if wanted else [expect_success()]


def _deduplicate(checks: Sequence[OutputCheck]) -> Iterator[OutputCheck]:
    seen: set[str] = set()
    given_first = sorted(checks, key=lambda item: item.origin != "given")
    for item in given_first:
        if item.id not in seen:
            seen.add(item.id)
            yield item


def _build_id(file: str, output_label: str, file_label: str) -> str:
    """Return a short id of one line; a digest makes truncated ids unique."""
    name = " ".join((f"{file}: {file_label}" if file else output_label).split())
    whole = f"{file}: {file_label}" if file else output_label
    if len(name) <= _MAX_ID_CHARS and name == whole:
        return name
    return f"{name[:_MAX_ID_CHARS]}… {hashlib.sha256(whole.encode('utf-8', 'replace')).hexdigest()[:6]}"
