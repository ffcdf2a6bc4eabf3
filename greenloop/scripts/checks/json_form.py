"""The checks that a model proposes, read from its JSON.

Read kindly where nothing hangs on it (keys that say nothing, a number as a string, one text in the
place of a list), strictly where a check would come to mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from greenloop.records.output_check import OutputCheck
from greenloop.scripts.checks.factories import (
    complete,
    has_columns,
    has_rows,
    holds,
    is_json,
    made,
    matches,
    not_empty,
    prints_nothing,
    prints_something,
)
from greenloop.scripts.checks.options import inside_path
from greenloop.scripts.checks.safe_regex import check_pattern

MOST_CHECKS = 12
_LONGEST = 500
_SYNONYMS = {
    "contains": ("contains", "holds", "text"),
    "matches": ("matches", "regex", "pattern"),
    "columns": ("columns", "csv"),
    "rows": ("rows", "lines"),
    "path": ("path", "file", "name"),
}
FORMS = (
    '{"check": "stdout", "contains": "TEXT"}, {"check": "stdout", "matches": "REGEX"}, '
    '{"check": "file", "path": "PATH", "rows": N} (or "columns": [..], "json": true, '
    '"non_empty": true, "contains", "matches"), {"check": "silent"}'
)
Item = Mapping[str, object]


def read_proposed(items: list[object], most: int = MOST_CHECKS) -> tuple[OutputCheck, ...]:
    """The checks of a list such as `[{"check": "stdout", "contains": "Total"}]`, origin `generated`.

    At most `most`, the first. The exit status is no part: it is asked for always.

    Raises:
        ValueError: an item has no meaning; the text says which and how it is written right.
    """
    if not isinstance(items, list):
        raise ValueError(f"the checks must be a JSON list; each is one of {FORMS}")
    read = [item for n, entry in enumerate(items, 1) for item in _numbered(n, entry)]
    if any(item.kind == "silent" for item in read):
        loud = [item.id for item in read if item.kind != "silent" and not item.file]
        if loud:
            raise ValueError(f'the checks contradict each other: "silent" and {loud[0]!r}')
    return complete(read, prints=False)[1 : most + 1]


def _numbered(n: int, entry: object) -> list[OutputCheck]:
    try:
        if not isinstance(entry, dict):
            raise ValueError(f"it must be one of {FORMS}")
        return list(_read(entry))
    except ValueError as error:
        raise ValueError(f"check {n}: {error}") from None


def _read(entry: Item) -> Iterator[OutputCheck]:
    kind = str(entry.get("check", "")).strip().lower()
    if kind in ("silent", "no output"):
        yield prints_nothing("generated")
    elif kind in ("stdout", "output", "standard output"):
        yield from list(_asked(entry, "")) or [prints_something("generated")]
    elif kind == "file":
        yield from _of_file(entry)
    elif kind in ("exit", "exit status", "status", "exit_code"):
        if str(_one(entry, ("status", "code", "is")) or 0).strip() != "0":
            raise ValueError("only exit status 0 can be asked for, and it is asked for always")
    else:
        raise ValueError(f"{entry.get('check')!r} is no kind of check; it must be one of {FORMS}")


def _of_file(entry: Item) -> Iterator[OutputCheck]:
    path = _one(entry, _SYNONYMS["path"])
    if not isinstance(path, str):
        raise ValueError('it names no file: "path" must be a path inside the working folder')
    file = inside_path(path)
    filled = _yes(entry, ("non_empty", "non-empty", "nonempty"))
    yield (not_empty if filled else made)(file, "generated")
    yield from _asked(entry, file)


def _asked(entry: Item, file: str) -> Iterator[OutputCheck]:
    """All that one item asks of a file, or of standard output where `file` is ""."""
    for text in _texts(entry, "contains"):
        yield holds(text, file, "generated")
    for pattern in _texts(entry, "matches"):
        yield matches(_valid(pattern), file, "generated")
    columns = _texts(entry, "columns")
    if columns:
        yield has_columns([item.strip() for item in columns], file, "generated")
    rows = _one(entry, _SYNONYMS["rows"])
    if rows is not None:
        yield has_rows(_whole(rows), file, "generated")
    if _yes(entry, ("json",)):
        yield is_json(file, "generated")


def _one(entry: Item, keys: Sequence[str]) -> object:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _texts(entry: Item, key: str) -> list[str]:
    """One text or a list of them; [] where the key is not there."""
    value = _one(entry, _SYNONYMS[key])
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    return [_text(item, key) for item in values]


def _text(value: object, key: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f'"{key}" must be a text, not {value!r}')
    text = str(value)
    if not text.strip():
        raise ValueError(f'"{key}" is empty: it would hold for any output')
    if len(text) > _LONGEST:
        raise ValueError(f'"{key}" is longer than {_LONGEST} characters: ask for a telling part')
    return text


def _valid(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except ValueError as error:
        raise ValueError(f'"matches": {pattern!r} is no regular expression: {error}') from None
    return pattern


def _whole(value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise ValueError(f'"rows" must be a whole number, 0 or more, not {value!r}')
    return int(text)


def _yes(entry: Item, keys: Sequence[str]) -> bool:
    value = _one(entry, keys)
    if value is None:
        return False
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    said = words.get(str(value).strip().lower())
    if said is None:
        raise ValueError(f'"{keys[0]}" must be true or false, not {value!r}')
    return said


_BY_ITSELF = ("status", "kept", "schema")  # asked for always, or typed as an option
Written = dict[str, object]


def written(check: OutputCheck) -> Written | None:
    """One item of the list that `read_proposed` reads; None where it has no such form."""
    if check.kind in _BY_ITSELF:
        return None
    if check.kind == "silent":
        return {"check": "silent"}
    where: Written = {"check": "file", "path": check.file} if check.file else {"check": "stdout"}
    return where | _arguments_of(check)


def _arguments_of(check: OutputCheck) -> Written:
    asked: dict[str, Written] = {
        "holds": {"contains": check.text},
        "matches": {"matches": check.text},
        "rows": {"rows": check.rows},
        "columns": {"columns": list(check.columns)},
        "json": {"json": True},
        "filled": {"non_empty": True},
    }
    return asked.get(check.kind, {})  # `prints` and `made` ask for no more than that
