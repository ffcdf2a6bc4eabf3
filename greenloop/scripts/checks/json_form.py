"""Checks that a model proposes, parsed from its JSON.

The parser is lenient where the meaning is clear (unknown keys, a number as a string, one text
instead of a list), and strict where a check would get another meaning.
"""

from collections.abc import Iterator, Mapping, Sequence

from greenloop.records.script_result import OutputCheck
from greenloop.scripts.checks.factories import build_check, complete_checks
from greenloop.scripts.checks.options import normalize_relative_path
from greenloop.scripts.checks.subprocess_query import check_pattern

MAX_CHECKS = 12
_MAX_TEXT_CHARS = 500
_SYNONYMS = {
    "contains": ("contains", "holds", "text"),
    "matches": ("matches", "regex", "pattern"),
    "columns": ("columns", "csv"),
    "rows": ("rows", "lines"),
    "path": ("path", "file", "name"),
}
CHECK_SYNTAX = (
    '{"check": "stdout", "contains": "TEXT"}, {"check": "stdout", "matches": "REGEX"}, '
    '{"check": "file", "path": "PATH", "rows": N} (or "columns": [..], "json": true, '
    '"non_empty": true, "contains", "matches"), {"check": "silent"}'
)
CheckItem = Mapping[str, object]


def checks_from_json(items: list[object]) -> tuple[OutputCheck, ...]:
    """Parse a list such as `[{"check": "stdout", "contains": "Total"}]`; the origin is `generated`.

    At most the first `MAX_CHECKS` are returned. The exit status is not among them: it is always
    checked. Raises ValueError: an item is invalid; the text says which one, and the right syntax.
    """
    if not isinstance(items, list):
        raise ValueError(f"the checks must be a JSON list; each is one of {CHECK_SYNTAX}")
    checks = [
        item.model_copy(update={"origin": "generated"})
        for n, entry in enumerate(items, 1)
        for item in _parse_numbered_item(n, entry)
    ]
    if any(item.kind == "silent" for item in checks):
        loud = [item.id for item in checks if item.kind != "silent" and not item.file]
        if loud:
            raise ValueError(f'the checks contradict each other: "silent" and {loud[0]!r}')
    return complete_checks(checks, requires_output=False)[1 : MAX_CHECKS + 1]


def _parse_numbered_item(n: int, entry: object) -> list[OutputCheck]:
    try:
        if not isinstance(entry, dict):
            raise ValueError(f"it must be one of {CHECK_SYNTAX}")
        return list(_parse_item(entry))
    except ValueError as error:
        raise ValueError(f"check {n}: {error}") from None


def _parse_item(entry: CheckItem) -> Iterator[OutputCheck]:
    kind = str(entry.get("check", "")).strip().lower()
    if kind in ("silent", "no output"):
        yield build_check("silent")
    elif kind in ("stdout", "output", "standard output"):
        yield from list(_parse_content_checks(entry, "")) or [build_check("prints")]
    elif kind == "file":
        yield from _parse_file_check(entry)
    elif kind in ("exit", "exit status", "status", "exit_code"):
        if str(_find_value(entry, ("status", "code", "is")) or 0).strip() != "0":
            raise ValueError("only exit status 0 can be required, and it always is")
    else:
        raise ValueError(
            f"{entry.get('check')!r} is not a kind of check; it must be one of {CHECK_SYNTAX}"
        )


def _parse_file_check(entry: CheckItem) -> Iterator[OutputCheck]:
    path = _find_value(entry, _SYNONYMS["path"])
    if not isinstance(path, str):
        raise ValueError('it names no file: "path" must be a path inside the working folder')
    file = normalize_relative_path(path)
    filled = _parse_flag(entry, ("non_empty", "non-empty", "nonempty"))
    yield build_check("filled" if filled else "made", file)
    yield from _parse_content_checks(entry, file)


def _parse_content_checks(entry: CheckItem, file: str) -> Iterator[OutputCheck]:
    """Yield the checks of one item on a file, or on standard output if `file` is ""."""
    for text in _parse_texts(entry, "contains"):
        yield build_check("holds", file, text=text)
    for pattern in _parse_texts(entry, "matches"):
        yield build_check("matches", file, text=_validate_pattern(pattern))
    columns = _parse_texts(entry, "columns")
    if columns:
        yield build_check("columns", file, columns=[item.strip() for item in columns])
    rows = _find_value(entry, _SYNONYMS["rows"])
    if rows is not None:
        yield build_check("rows", file, rows=_parse_count(rows))
    if _parse_flag(entry, ("json",)):
        yield build_check("json", file)


def _find_value(entry: CheckItem, keys: Sequence[str]) -> object:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _parse_texts(entry: CheckItem, key: str) -> list[str]:
    """Return the texts of a key, which has one or a list of them; [] if it is missing."""
    value = _find_value(entry, _SYNONYMS[key])
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    return [_parse_text(item, key) for item in values]


def _parse_text(value: object, key: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f'"{key}" must be a text, not {value!r}')
    text = str(value)
    if not text.strip():
        raise ValueError(f'"{key}" is empty: it would hold for any output')
    if len(text) > _MAX_TEXT_CHARS:
        raise ValueError(
            f'"{key}" is longer than {_MAX_TEXT_CHARS} characters: ask for a telling part'
        )
    return text


def _validate_pattern(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except ValueError as error:
        raise ValueError(f'"matches": {pattern!r} is not a regular expression: {error}') from None
    return pattern


def _parse_count(value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise ValueError(f'"rows" must be a whole number, 0 or more, not {value!r}')
    return int(text)


def _parse_flag(entry: CheckItem, keys: Sequence[str]) -> bool:
    value = _find_value(entry, keys)
    if value is None:
        return False
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    flag = words.get(str(value).strip().lower())
    if flag is None:
        raise ValueError(f'"{keys[0]}" must be true or false, not {value!r}')
    return flag
