"""One check looked at: what was expected, and what was seen in its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from greenloop.records.output_check import OutputCheck, is_table
from greenloop.records.script_result import MadeFile, ScriptRun
from greenloop.scripts.checks.csv_tables import Table, counted, other_separator, ragged, table_of
from greenloop.scripts.checks.json_schema import misfits
from greenloop.scripts.checks.safe_regex import found
from greenloop.scripts.output_excerpts import (
    files_made,
    first_lines,
    lines_of,
    near_file,
    near_names,
    near_text,
)


@dataclass(frozen=True)
class Looked:
    """What a check looks at: the text, its name for messages, and whether a part was cut out."""

    text: str
    name: str
    file: str = ""
    cut: bool = False

    @property
    def head(self) -> str:
        return first_lines(self.text, self.name)


def amiss(check: OutputCheck, run: ScriptRun) -> str:
    """Why a check (other than `status`) does not hold: expected, then seen. "" where it holds."""
    if check.kind == "prints":
        return "" if run.stdout.strip() else _printed_nothing(run)
    if check.kind == "silent":
        return _not_silent(run)
    if check.file:
        file = made_file(check, run)
        if file is None:
            return missing(check.file, run)
        if check.kind == "made":
            return ""
        return _of_file(check, file)
    if not run.stdout.strip() and check.kind not in ("json", "schema"):
        why = _of_text(check, Looked("", "standard output"))
        return f"{_printed_nothing(run)}\n{why}" if why else ""
    return _of_text(check, Looked(_plain_ends(run.stdout), "standard output", cut=run.stdout_cut))


def made_file(check: OutputCheck, run: ScriptRun) -> MadeFile | None:
    return next((item for item in run.made if item.path == check.file), None)


def missing(path: str, run: ScriptRun) -> str:
    """A file that was not made: what was, and which of it may be meant."""
    changed = " (it is an input, and inputs are read-only)" if path in run.changed_inputs else ""
    left = next((f"; {item}" for item in run.left_out if path in item), "")
    return f"{path} was not made{changed}{left}; {files_made(run.made)}{near_file(path, run.made)}"


def _printed_nothing(run: ScriptRun) -> str:
    parts = ["ran but printed nothing"]
    if run.stderr.strip():
        parts.append(first_lines(run.stderr, "standard error"))
    if run.made:
        parts.append(files_made(run.made))
    return "\n".join(parts)


def _not_silent(run: ScriptRun) -> str:
    if not run.stdout.strip():
        return ""
    return f"nothing was to be printed\n{first_lines(run.stdout, 'standard output')}"


def _of_file(check: OutputCheck, file: MadeFile) -> str:
    if check.kind == "filled":
        return "" if file.size else f"{file.path} is empty"
    if file.content is None:
        return f"{file.path} is too large to be checked ({counted(file.size, 'byte')})"
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return (
            f"{file.path} is not UTF-8 text: {error.reason} at byte {error.start}; "
            f"it begins with {file.content[:24]!r}"
        )
    return _of_text(check, Looked(_plain_ends(text), file.path, file.path))


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _of_text(check: OutputCheck, looked: Looked) -> str:
    look: dict[str, Callable[[OutputCheck, Looked], str]] = {
        "holds": _holds,
        "matches": _matches,
        "rows": _rows,
        "json": _json,
        "columns": _columns,
        "schema": _schema,
    }
    why = look[check.kind](check, looked)
    note = "\n(the middle of the output was too much and is cut out)" if why and looked.cut else ""
    return why + note


def _holds(check: OutputCheck, looked: Looked) -> str:
    wanted = _plain_ends(check.text)
    if wanted in looked.text:
        return ""
    near = near_text(wanted, looked.text)
    return f"{looked.name} does not hold {check.text!r}{near and f'; {near}'}\n{looked.head}"


def _matches(check: OutputCheck, looked: Looked) -> str:
    try:
        if found(check.text, looked.text):
            return ""
    except TimeoutError:
        return (
            f"the regular expression /{check.text}/ took too long on {looked.name}: make it plainer"
        )
    except RuntimeError as error:
        return f"/{check.text}/ could not be looked for: {error}"
    except ValueError as error:
        return f"/{check.text}/ is no regular expression: {error}"
    return f"{looked.name} has no match of /{check.text}/\n{looked.head}"


def _rows(check: OutputCheck, looked: Looked) -> str:
    if not is_table(looked.file):
        have, noun, seen = len(lines_of(looked.text)), "line", looked.head
    else:
        try:
            table = table_of(looked.text, looked.file)
        except ValueError as error:
            return f"{looked.name} is no CSV: {error}\n{looked.head}"
        have, noun, seen = len(table.rows), "data row", f"{table.shape}\n{looked.head}"
    wanted = check.rows or 0
    if have == wanted:
        return ""
    return f"{looked.name} has {counted(have, noun)}, expected {wanted}\n{seen}"


def _json(_check: OutputCheck, looked: Looked) -> str:
    return _json_fault(looked)


def _json_fault(looked: Looked) -> str:
    try:
        parsed_json(looked.text)
    except ValueError as error:
        return f"{looked.name} is not JSON: {error}\n{looked.head}"
    return ""


def parsed_json(text: str) -> object:
    """
    Raises:
        ValueError: it is not JSON (`NaN` and the like are none), or nested too deep.
    """
    try:
        value: object = json.loads(text, parse_constant=_no_json)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return value


def _no_json(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")


def _schema(check: OutputCheck, looked: Looked) -> str:
    fault = _json_fault(looked)
    if fault:
        return fault
    wrong = misfits(check.text, parsed_json(looked.text))
    if not wrong:
        return ""
    lines = "\n".join(f"  {item}" for item in wrong)
    return f"{looked.name} is not valid under the JSON Schema:\n{lines}\n{looked.head}"


def _columns(check: OutputCheck, looked: Looked) -> str:
    try:
        table = table_of(looked.text, looked.file)
    except ValueError as error:
        return f"{looked.name} is no CSV: {error}\n{looked.head}"
    wrong = _wrong_columns(check, table) or "; ".join(ragged(table))
    return f"{looked.name}: {wrong}\n{table.shape}\n{looked.head}" if wrong else ""


def _wrong_columns(check: OutputCheck, table: Table) -> str:
    lacking = [name for name in check.columns if name not in table.header]
    if not lacking:
        return ""
    hints = [item for item in (other_separator(table), near_names(lacking, table.header)) if item]
    noun = "column" if len(lacking) == 1 else "columns"
    return "; ".join([f"the header lacks the {noun} {', '.join(lacking)}", *hints])
