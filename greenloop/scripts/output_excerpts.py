"""What was seen, in a few lines: what a model needs to know of output that is not as asked."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Sequence

from greenloop.records.script_result import MadeFile
from greenloop.scripts.checks.csv_tables import counted

_LINES, _WIDE, _FILES = 8, 160, 12
_COMPARED = 400


def lines_of(text: str) -> list[str]:
    """The lines of a text, as its line feeds part them; what stands behind the last is one too."""
    return text.removesuffix("\n").split("\n") if text else []


def first_lines(text: str, what: str) -> str:
    """How many lines there are, and the first of them."""
    lines = lines_of(text)
    if not text.strip():
        return f"{what}: nothing but blanks" if text else f"{what}: empty"
    head = [f"  {_cut(item)}" for item in lines[:_LINES]]
    if len(lines) > _LINES:
        head.append(f"  … {counted(len(lines) - _LINES, 'more line')}")
    return "\n".join([f"{what}, {counted(len(lines), 'line')}:", *head])


def files_made(made: Sequence[MadeFile]) -> str:
    """The files that a run made, with their sizes."""
    if not made:
        return "the script made no file"
    named = [f"{item.path} ({counted(item.size, 'byte')})" for item in made[:_FILES]]
    more = f" and {len(made) - _FILES} more" if len(made) > _FILES else ""
    return f"the script made: {', '.join(named)}{more}"


def near_file(path: str, made: Sequence[MadeFile]) -> str:
    """A made file that may be the one that is meant; "" where there is none."""
    names = [item.path for item in made]
    same = [name for name in names if posixpath.basename(name) == posixpath.basename(path)]
    lower = [name for name in names if name.lower() == path.lower()]
    near = same or lower or difflib.get_close_matches(path, names, 1, 0.75)
    return f"; {near[0]} is near to it" if near else ""


def near_text(wanted: str, text: str) -> str:
    """The line that comes nearest to a text that was not found; "" where none is near."""
    lines = lines_of(text)[:_COMPARED]
    plain = " ".join(wanted.split()).lower()
    for number, line in enumerate(lines, 1):
        if plain and plain in " ".join(line.split()).lower():
            how = "case" if " ".join(wanted.split()) not in " ".join(line.split()) else "spaces"
            return f"line {number} differs only in {how}: {_cut(line)!r}"
    near = difflib.get_close_matches(wanted[:_WIDE], [item[:_WIDE] for item in lines], 1, 0.6)
    return f"the nearest line is {near[0]!r}" if near else ""


def near_names(missing: Sequence[str], there: Sequence[str]) -> str:
    """For each name that is missing the one that may be meant: `amount -> Amount`."""
    lower = {item.lower().replace(" ", "_"): item for item in there}
    pairs = []
    for name in missing:
        same = lower.get(name.lower().replace(" ", "_"))
        near = [same] if same else difflib.get_close_matches(name, there, 1, 0.7)
        pairs += [f"{near[0]!r} is near to {name!r}"] if near else []
    return ", ".join(pairs)


def tail(text: str, lines: int, most: int) -> str:
    """The last lines of a text, and of these at most so many characters."""
    kept = "\n".join(_cut(item) for item in lines_of(text.rstrip())[-lines:])
    return kept if len(kept) <= most else f"…{kept[-most:]}"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDE else f"{line[:_WIDE]}…"
