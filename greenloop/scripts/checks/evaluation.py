"""Evaluation of one check: what was expected, and what was found."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from greenloop.records.script_result import OutputCheck, ProducedFile, ScriptRun, is_table
from greenloop.scripts.checks.csv_tables import (
    Table,
    find_ragged_rows,
    format_count,
    parse_table,
    suggest_separator,
)
from greenloop.scripts.checks.subprocess_query import find_schema_violations, has_match
from greenloop.scripts.output_excerpts import (
    find_nearest_line,
    format_first_lines,
    format_made_files,
    split_lines,
    suggest_file,
    suggest_names,
)


@dataclass(frozen=True)
class CheckSubject:
    """The text that a check is applied to, its name for messages, and whether it was truncated."""

    text: str
    name: str
    file: str = ""
    is_truncated: bool = False

    @property
    def excerpt(self) -> str:
        return format_first_lines(self.text, self.name)


def find_violation(check: OutputCheck, run: ScriptRun) -> str:
    """Return why a check (other than `status`) does not hold; "" if it holds."""
    if check.kind == "prints":
        return "" if run.stdout.strip() else _describe_no_output(run)
    if check.kind == "silent":
        printed = run.stdout.strip() and format_first_lines(run.stdout, "standard output")
        return f"nothing should have been printed\n{printed}" if printed else ""
    if check.file:
        file = next((item for item in run.made if item.path == check.file), None)
        if file is None:
            return _describe_missing_file(check.file, run)
        if check.kind == "made":
            return ""
        return _check_file(check, file)
    if not run.stdout.strip() and check.kind not in ("json", "schema"):
        why = _check_text(check, CheckSubject("", "standard output"))
        return f"{_describe_no_output(run)}\n{why}" if why else ""
    text = _normalize_line_endings(run.stdout)
    subject = CheckSubject(text, "standard output", is_truncated=run.stdout_cut)
    return _check_text(check, subject)


def _describe_missing_file(path: str, run: ScriptRun) -> str:
    """Return a message on a missing file: which files were made, and which may be meant."""
    changed = " (it is an input, and inputs are read-only)" if path in run.changed_inputs else ""
    left = next((f"; {item}" for item in run.left_out if path in item), "")
    return f"{path} was not made{changed}{left}; {format_made_files(run.made)}{suggest_file(path, run.made)}"


def _describe_no_output(run: ScriptRun) -> str:
    parts = ["ran but printed nothing"]
    if run.stderr.strip():
        parts.append(format_first_lines(run.stderr, "standard error"))
    if run.made:
        parts.append(format_made_files(run.made))
    return "\n".join(parts)


def _check_file(check: OutputCheck, file: ProducedFile) -> str:
    if check.kind == "filled":
        return "" if file.size else f"{file.path} is empty"
    if file.content is None:
        return f"{file.path} is too large to be checked ({format_count(file.size, 'byte')})"
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return (
            f"{file.path} is not UTF-8 text: {error.reason} at byte {error.start}; "
            f"it begins with {file.content[:24]!r}"
        )
    return _check_text(check, CheckSubject(_normalize_line_endings(text), file.path, file.path))


def _normalize_line_endings(text: str) -> str:
    return text.replace("\r\n", "\n")


def _check_text(check: OutputCheck, subject: CheckSubject) -> str:
    evaluators: dict[str, Callable[[OutputCheck, CheckSubject], str]] = {
        "holds": _check_contains,
        "matches": _check_matches,
        "rows": _check_rows,
        "json": _check_json,
        "columns": _check_columns,
        "schema": _check_schema,
    }
    why = evaluators[check.kind](check, subject)
    note = "\n(the middle of the output was too much and is cut out)"
    return why + note if why and subject.is_truncated else why


def _check_contains(check: OutputCheck, subject: CheckSubject) -> str:
    wanted = _normalize_line_endings(check.text)
    if wanted in subject.text:
        return ""
    near = find_nearest_line(wanted, subject.text)
    return f"{subject.name} does not hold {check.text!r}{near and f'; {near}'}\n{subject.excerpt}"


def _check_matches(check: OutputCheck, subject: CheckSubject) -> str:
    try:
        if has_match(check.text, subject.text):
            return ""
    except TimeoutError:
        return f"the regular expression /{check.text}/ took too long on {subject.name}: simplify it"
    except RuntimeError as error:
        return f"/{check.text}/ could not be searched for: {error}"
    except ValueError as error:
        return f"/{check.text}/ is not a regular expression: {error}"
    return f"{subject.name} has no match of /{check.text}/\n{subject.excerpt}"


def _check_rows(check: OutputCheck, subject: CheckSubject) -> str:
    if not is_table(subject.file):
        have, noun, seen = len(split_lines(subject.text)), "line", subject.excerpt
    else:
        try:
            table = parse_table(subject.text, subject.file)
        except ValueError as error:
            return f"{subject.name} is not valid CSV: {error}\n{subject.excerpt}"
        have, noun, seen = len(table.rows), "data row", f"{table.shape}\n{subject.excerpt}"
    wanted = check.rows or 0
    if have == wanted:
        return ""
    return f"{subject.name} has {format_count(have, noun)}, expected {wanted}\n{seen}"


def _check_json(_check: OutputCheck, subject: CheckSubject) -> str:
    try:
        parse_json(subject.text)
    except ValueError as error:
        return f"{subject.name} is not JSON: {error}\n{subject.excerpt}"
    return ""


def parse_json(text: str) -> object:
    """Parse JSON.

    Raises ValueError: it is not JSON (`NaN` and `Infinity` are not), or nested too deep.
    """
    try:
        value: object = json.loads(text, parse_constant=_reject_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def _reject_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value")


def _check_schema(check: OutputCheck, subject: CheckSubject) -> str:
    if fault := _check_json(check, subject):
        return fault
    wrong = find_schema_violations(check.text, parse_json(subject.text))
    if not wrong:
        return ""
    lines = "\n".join(f"  {item}" for item in wrong)
    return f"{subject.name} is not valid under the JSON Schema:\n{lines}\n{subject.excerpt}"


def _check_columns(check: OutputCheck, subject: CheckSubject) -> str:
    try:
        table = parse_table(subject.text, subject.file)
    except ValueError as error:
        return f"{subject.name} is not valid CSV: {error}\n{subject.excerpt}"
    wrong = _find_column_errors(check, table) or "; ".join(find_ragged_rows(table))
    return f"{subject.name}: {wrong}\n{table.shape}\n{subject.excerpt}" if wrong else ""


def _find_column_errors(check: OutputCheck, table: Table) -> str:
    lacking = [name for name in check.columns if name not in table.header]
    if not lacking:
        return ""
    noun = "column" if len(lacking) == 1 else "columns"
    fault = f"the header lacks the {noun} {', '.join(lacking)}"
    hints = (suggest_separator(table), suggest_names(lacking, table.header))
    return "; ".join(filter(None, (fault, *hints)))
