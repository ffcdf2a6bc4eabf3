"""Patches: unified diffs of several files, as `git apply` and `patch -p1` take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff

from greenloop.errors import InputError

_NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def diff_files(before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """Return the patch that makes `after` of `before`; files that only one has are new or deleted.

    Files of `before` that `after` does not name stay as they are; None deletes one.
    """
    changed = (path for path in sorted(after) if after[path] != before.get(path))
    return "".join(_diff_file(path, before.get(path), after[path]) for path in changed)


def _diff_file(path: str, before: str | None, after: str | None) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\n" * (before is None) + "deleted file mode 100644\n" * (
        after is None
    )
    tab = "\t" if " " in path else ""
    names = (
        "/dev/null" if before is None else f"a/{path}{tab}",
        "/dev/null" if after is None else f"b/{path}{tab}",
    )
    lines = unified_diff(_split(before), _split(after), *names)
    return head + "".join(
        line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines
    )


def _split(text: str | None) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text or "")


def apply_patch(
    texts: Mapping[str, str], patch: str, *, reverse: bool = False
) -> dict[str, str | None]:
    """Return the files that a patch changes, with their new texts (None: deleted).

    Raises:
        InputError: a hunk does not stand in its file at its line, or a new file exists.
    """
    changed: dict[str, str | None] = {}
    for path, hunks, (is_new, is_deleted) in _split_patch(patch):
        if (is_deleted if reverse else is_new) and path in texts:
            raise InputError(f"the patch adds {path}, which is there already")
        is_gone = is_new if reverse else is_deleted
        lines = _split(texts.get(path))
        result = "".join(_apply_hunks(path, lines, hunks, reverse=reverse))
        changed[path] = None if is_gone else result
    return changed


def _split_patch(patch: str) -> Iterator[tuple[str, str, tuple[bool, bool]]]:
    for part in re.split(r"(?m)^diff --git (?=a/)", patch)[1:]:
        head, _, hunks = part.partition("@@ -")
        name = re.match(r"a/(?P<path>.*) b/(?P=path)\n", head)
        if name is None:
            raise InputError("the patch renames a file, or has another form than greenloop's")
        flags = "\nnew file mode" in head, "\ndeleted file mode" in head
        yield name["path"], f"@@ -{hunks}" if hunks else "", flags


def _apply_hunks(path: str, lines: list[str], hunks: str, *, reverse: bool) -> Iterator[str]:
    at = 0
    old, new = ("+", "-") if reverse else ("-", "+")
    for start, body in _read_hunks(hunks, reverse=reverse):
        yield from lines[at:start]
        removed = [text for sign, text in body if sign in (" ", old)]
        at = start + len(removed)
        if lines[start:at] != removed:
            raise InputError(f"the patch does not fit {path} at line {start + 1}")
        yield from (text for sign, text in body if sign in (" ", new))
    yield from lines[at:]


def _read_hunks(hunks: str, *, reverse: bool) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield the index of each hunk's first line, and its lines by sign."""
    lines = _split(hunks)
    at = 0
    while at < len(lines):
        found = _HUNK.match(lines[at])
        if found is None:
            raise InputError(f"the patch has no hunk at {lines[at][:40]!r}")
        begin, count = found.group(3, 4) if reverse else found.group(1, 2)
        start = int(begin) - (count != "0")
        body: list[tuple[str, str]] = []
        at += 1
        while at < len(lines) and not lines[at].startswith("@@"):
            sign, text = lines[at][0], lines[at][1:]
            if sign == "\\":
                body[-1] = (body[-1][0], body[-1][1].removesuffix("\n"))
            else:
                body.append((sign, text))
            at += 1
        yield start, body


def count_lines(patch: str) -> Iterator[tuple[str, int, int]]:
    """Yield each file of a patch with its numbers of added and removed lines."""
    for path, hunks, _ in _split_patch(patch):
        signs = [line[:1] for line in hunks.split("\n")]
        yield path, signs.count("+"), signs.count("-")
