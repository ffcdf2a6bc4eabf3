"""Checks of a script's output, each with its id."""

import hashlib
from collections.abc import Sequence

from greenloop.records.script_result import CheckKind, OutputCheck, is_table

_MAX_ID_CHARS = 70


def build_check(
    kind: CheckKind,
    file: str = "",
    *,
    text: str = "",
    columns: Sequence[str] = (),
    rows: int | None = None,
    schema: str = "",
) -> OutputCheck:
    """Return a check of a file, or of standard output; its id says what it expects.

    `rows` are data rows in a CSV (by the file's suffix), lines in any other output. `schema` is the
    name of the JSON Schema in `text`.
    """
    count = f"{rows} {'row' if is_table(file) else 'line'}{'' if rows == 1 else 's'}"
    table = f"csv with columns {', '.join(columns)}"
    labels = {  # of standard output, of a file
        "status": ("exits with status 0", ""),
        "prints": ("prints something", ""),
        "silent": ("prints nothing", ""),
        "holds": (f"prints {text!r}", f"holds {text!r}"),
        "matches": (f"prints /{text}/", f"matches /{text}/"),
        "made": ("", "made"),
        "filled": ("", "not empty"),
        "rows": (f"prints {count}", count),
        "json": ("prints json", "json"),
        "columns": (f"prints {table}", table),
        "schema": (f"prints json as in {schema}", f"json as in {schema}"),
    }
    name = f"{file}: {labels[kind][1]}" if file else labels[kind][0]
    content = {"text": text, "columns": columns, "rows": rows}
    return OutputCheck.model_validate(
        {"id": _shorten_id(name), "kind": kind, "file": file, **content}
    )


def complete_checks(
    checks: Sequence[OutputCheck], *, requires_output: bool
) -> tuple[OutputCheck, ...]:
    """Return the checks of a run: `exits with status 0` first, then the others, each id once.

    `prints something` is added if `requires_output` is true and no check expects silence. Of two
    checks with the same id the user's is kept.
    """
    is_silent = any(item.kind == "silent" for item in checks)
    default = [build_check("prints")] if requires_output and not is_silent else []
    found = sorted((build_check("status"), *default, *checks), key=lambda i: i.origin != "given")
    by_id: dict[str, OutputCheck] = {}
    for item in found:
        by_id.setdefault(item.id, item)
    return tuple(by_id.values())


def _shorten_id(name: str) -> str:
    """Return a short id of one line; a digest makes truncated ids unique."""
    line = " ".join(name.split())
    if len(line) <= _MAX_ID_CHARS and line == name:
        return line
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"{line[:_MAX_ID_CHARS]}… {digest[:6]}"
