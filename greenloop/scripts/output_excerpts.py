"""Excerpts of a script's output for failure messages, with suggestions of what was meant."""

import difflib
import posixpath
from collections.abc import Sequence

from greenloop.records.script_result import ProducedFile
from greenloop.scripts.checks.csv_tables import format_count

_MAX_LINES, _MAX_LINE_CHARS, _MAX_FILES = 8, 160, 12
_MAX_COMPARED_LINES = 400


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, split at line feeds only."""
    return text.removesuffix("\n").split("\n") if text else []


def format_first_lines(text: str, title: str) -> str:
    """Return the title with the number of lines, and the first lines."""
    lines = split_lines(text)
    if not text.strip():
        return f"{title}: nothing but blanks" if text else f"{title}: empty"
    head = [f"  {_truncate(item)}" for item in lines[:_MAX_LINES]]
    if len(lines) > _MAX_LINES:
        head.append(f"  … {format_count(len(lines) - _MAX_LINES, 'more line')}")
    return "\n".join([f"{title}, {format_count(len(lines), 'line')}:", *head])


def format_made_files(made: Sequence[ProducedFile]) -> str:
    """Return the files that a run made, with their sizes."""
    if not made:
        return "the script made no file"
    named = [f"{item.path} ({format_count(item.size, 'byte')})" for item in made[:_MAX_FILES]]
    more = f" and {len(made) - _MAX_FILES} more" if len(made) > _MAX_FILES else ""
    return f"the script made: {', '.join(named)}{more}"


def suggest_file(path: str, made: Sequence[ProducedFile]) -> str:
    """Return a hint at a made file with a similar name; "" if there is none."""
    names = [item.path for item in made]
    same = [name for name in names if posixpath.basename(name) == posixpath.basename(path)]
    lower = [name for name in names if name.lower() == path.lower()]
    near = same or lower or difflib.get_close_matches(path, names, 1, 0.75)
    return f"; {near[0]} is close to it" if near else ""


def find_nearest_line(wanted: str, text: str) -> str:
    """Return the line that is most similar to a missing text; "" if none is similar."""
    lines = split_lines(text)[:_MAX_COMPARED_LINES]
    plain = " ".join(wanted.split()).lower()
    for number, line in enumerate(lines, 1):
        if plain and plain in " ".join(line.split()).lower():
            how = "case" if " ".join(wanted.split()) not in " ".join(line.split()) else "spaces"
            return f"line {number} differs only in {how}: {_truncate(line)!r}"
    near = difflib.get_close_matches(
        wanted[:_MAX_LINE_CHARS], [item[:_MAX_LINE_CHARS] for item in lines], 1, 0.6
    )
    return f"the nearest line is {near[0]!r}" if near else ""


def suggest_names(missing: Sequence[str], available: Sequence[str]) -> str:
    """Return for each missing name the available one that is most similar."""
    lower = {item.lower().replace(" ", "_"): item for item in available}
    pairs = []
    for name in missing:
        same = lower.get(name.lower().replace(" ", "_"))
        near = [same] if same else difflib.get_close_matches(name, available, 1, 0.7)
        pairs += [f"{near[0]!r} is near to {name!r}"] if near else []
    return ", ".join(pairs)


def tail(text: str, lines: int, max_chars: int) -> str:
    """Return the last lines of a text, at most `max_chars` characters."""
    kept = "\n".join(_truncate(item) for item in split_lines(text.rstrip())[-lines:])
    return kept if len(kept) <= max_chars else f"…{kept[-max_chars:]}"


def _truncate(line: str) -> str:
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…"
