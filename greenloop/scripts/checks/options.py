"""Checks of a script's output, parsed from command-line options."""

import csv
import difflib
import json
import posixpath
import re
from pathlib import Path

from greenloop.errors import InputError
from greenloop.records.script_result import OutputCheck
from greenloop.scripts.checks.factories import build_check
from greenloop.scripts.checks.subprocess_query import check_pattern, find_schema_error

_PART_NAMES = ("non-empty", "json", "rows", "csv")
_FILE_PATTERN = re.compile(r"(?s)(.+?)((?::(?:non-empty|json|rows=[^:]*|csv=.*?))*)")
_PART_SEPARATOR = re.compile(r":(?=(?:non-empty|json)(?::|$)|rows=|csv=)")
_SYNTAX_HINT = "write PATH, PATH:non-empty, PATH:rows=N, PATH:json or PATH:csv=COLUMN,COLUMN"


def parse_expect(text: str) -> OutputCheck:
    """Parse `--expect`: a text, or a `/regular expression/`, that standard output contains.

    Raises InputError: the text is empty, or the regular expression is invalid.
    """
    if not text.strip():
        raise InputError("--expect: the text is empty; write a text or a /regular expression/")
    if text == "//":
        raise InputError("--expect //: the regular expression is empty; write it between the two /")
    if len(text) < 3 or not (text.startswith("/") and text.endswith("/")):
        return build_check("holds", text=text)
    try:
        check_pattern(text[1:-1])
    except ValueError as error:
        raise InputError(
            f"--expect {text}: not a regular expression: {error}; correct it, or leave out the / on "
            "either side to ask for the text itself"
        ) from None
    return build_check("matches", text=text[1:-1])


def parse_expect_file(text: str) -> tuple[OutputCheck, ...]:
    """Parse `--expect-file`: `PATH[:non-empty|:rows=N|:json|:csv=A,B]`, with any number of parts.

    Other colons are part of the path. Columns are written like a line of a CSV: `csv="a, b",c`.
    Raises InputError: no path, a path that leaves the working folder, or an unknown part.
    """
    found = _FILE_PATTERN.fullmatch(text)
    if found is None:
        raise InputError(f"--expect-file {text!r}: no path; {_SYNTAX_HINT}")
    _reject_misspelled_part(text, found[1])
    try:
        path = normalize_relative_path(found[1])
        parts = [item for item in _PART_SEPARATOR.split(found[2]) if item]
        first = build_check("filled" if "non-empty" in parts else "made", path)
        return (first, *(_parse_part(item, path) for item in parts if item != "non-empty"))
    except ValueError as error:
        raise InputError(f"--expect-file {text}: {error}") from None


def normalize_relative_path(text: str) -> str:
    """Return a path in the working folder, normalized.

    Raises ValueError: it is empty, absolute, or leaves the folder.
    """
    path = posixpath.normpath(text.strip()) if text.strip() else "."
    if path == "." or path.startswith(("/", "../")) or path == ".." or "\0" in path:
        raise ValueError(f"{text!r} is not a file inside the working folder of the script")
    return path


def load_schema(path: Path) -> OutputCheck:
    """Read `--expect-json-schema`: standard output is JSON that is valid under a file's schema.

    Raises InputError: the file cannot be read, or is not a JSON Schema.
    """
    try:
        schema = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: no JSON Schema can be read from it: {reason}") from None
    if not isinstance(schema, (dict, bool)):
        raise InputError(f"{path}: a JSON Schema is an object, this is a {type(schema).__name__}")
    fault = find_schema_error(schema)
    if fault:
        raise InputError(f"{path}: not a JSON Schema: {fault}")
    return build_check("schema", text=json.dumps(schema, ensure_ascii=False), schema=path.name)


def _parse_part(part: str, path: str) -> OutputCheck:
    if part == "json":
        return build_check("json", path)
    if part.startswith("rows="):
        number = part[5:]
        if not re.fullmatch(r"[0-9]{1,9}", number):
            raise ValueError(f"rows={number}: N must be a whole number, 0 or more")
        return build_check("rows", path, rows=int(number))
    return build_check("columns", path, columns=_parse_columns(part[4:]))


def _parse_columns(text: str) -> list[str]:
    names = [item.strip() for item in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise ValueError("csv=: name each column, with commas between, as in csv=region,total")
    return names


def _reject_misspelled_part(text: str, path: str) -> None:
    """Reject a path that ends in a misspelled part."""
    found = re.search(r":([A-Za-z_-]+)(=[^:]*)?\Z", path)
    word = found[1].lower() if found else ""
    near = difflib.get_close_matches(word, _PART_NAMES, 1, 0.7)
    if near or word in ("columns", "nonempty", "lines", "exists"):
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"--expect-file {text}: {word!r} cannot be checked{hint}; {_SYNTAX_HINT}")
