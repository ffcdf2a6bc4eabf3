"""Unified diffs of several files, in the format of `git apply` and `patch -p1`."""

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff

from greenloop.errors import InputError

_NO_NEWLINE = "\\ No newline at end of file\n"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PART = re.compile(
    r"""a/(?P<path>.*)[ ]b/(?P=path)\n(?P<head>(?:(?:new|deleted)[ ]file[ ]mode[ ]\d+\n|index[ ].*\n)*)
        (?:---[ ](?:a/(?P=path)|/dev/null)\t?\n\+\+\+[ ](?:b/(?P=path)|/dev/null)\t?\n)?(?=@@|\Z)""",
    re.VERBOSE,
)


def diff_files(before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """Return the patch that turns the files of `before` into those of `after`.

    A file that only `after` has is new, None deletes a file, and files that `after` does not name
    stay as they are. Raises InputError: a patch cannot contain one of the paths.
    """
    changed = [path for path in sorted(after) if after[path] != before.get(path)]
    for path in changed:
        _check_path(path)
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
    """Return the new texts of the files that a patch changes; None for a deleted file.

    Raises InputError: the patch has another format, or does not match the texts exactly.
    """
    changed: dict[str, str | None] = {}
    for path, hunks, (is_new, is_deleted) in _split_patch(patch):
        if reverse:
            is_new, is_deleted = is_deleted, is_new
        if path in changed:
            raise InputError(f"the patch changes {path} twice")
        if is_new and path in texts:
            raise InputError(f"the patch adds {path}, which is there already")
        if not is_new and path not in texts:
            raise InputError(f"the patch changes {path}, which is not there")
        result = "".join(_apply_hunks(path, _split(texts.get(path)), hunks, reverse=reverse))
        if is_deleted and result:
            raise InputError(f"the patch deletes {path}, but then {path} is not empty")
        changed[path] = None if is_deleted else result
    return changed


def _split_patch(patch: str) -> Iterator[tuple[str, str, tuple[bool, bool]]]:
    """Yield the path and the hunks of each file, and whether it is new or deleted."""
    before, *parts = re.split(r"(?m)^diff --git (?=a/)", patch)
    if before.strip():
        raise InputError("this is not a patch: it does not begin with `diff --git`")
    for part in parts:
        found = _PART.match(part)
        if found is None:
            raise InputError("the patch renames a file, or has another form than greenloop's")
        _check_path(found["path"])
        flags = "new file" in found["head"], "deleted file" in found["head"]
        yield found["path"], part[found.end() :], flags


def _check_path(path: str) -> None:
    if ".." in path.split("/") or path.startswith("/"):
        raise InputError(f"the patch leads out of the project: {path}")
    if re.search(r'[\x00-\x1f\x7f"\\]', path) or " b/" in path:
        raise InputError(f"a patch cannot name this file: {path!r}")


def _apply_hunks(path: str, lines: list[str], hunks: str, *, reverse: bool) -> Iterator[str]:
    at = 0
    old, new = ("+", "-") if reverse else ("-", "+")
    for start, body in _read_hunks(path, hunks, reverse=reverse):
        removed = [text for sign, text in body if sign in (" ", old)]
        if start < at or lines[start : start + len(removed)] != removed:
            raise InputError(f"the patch does not fit {path} at line {start + 1}")
        yield from lines[at:start]
        yield from (text for sign, text in body if sign in (" ", new))
        at = start + len(removed)
    yield from lines[at:]


def _read_hunks(
    path: str, hunks: str, *, reverse: bool
) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield the index of each hunk's first line, and the hunk's lines as (sign, text)."""
    lines = _split(hunks)
    at = 0
    while at < len(lines):
        found = _HUNK.match(lines[at])
        if found is None:
            raise InputError(f"the patch has no hunk for {path} at {lines[at][:40]!r}")
        begin, count = found.group(3, 4) if reverse else found.group(1, 2)
        end = at + 1
        while end < len(lines) and lines[end][0] in " +-\\":
            end += 1
        body = list(_read_body(lines[at + 1 : end]))
        for signs, number in ((" -", found[2]), (" +", found[4])):
            if sum(sign in signs for sign, _ in body) != int(number or 1):
                raise InputError(f"a hunk of the patch for {path} is cut off, or has more lines")
        yield int(begin) - (count != "0"), body
        at = end


def _read_body(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line[0] != "\\":
            text = line[1:].removesuffix("\n") if following[:1] == "\\" else line[1:]
            yield line[0], text


def count_lines(patch: str) -> Iterator[tuple[str, int, int]]:
    """Yield each file of a patch with its numbers of added and removed lines."""
    for path, hunks, _ in _split_patch(patch):
        signs = [line[:1] for line in hunks.split("\n")]
        yield path, signs.count("+"), signs.count("-")
