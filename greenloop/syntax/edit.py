"""Edits of a text, and the diff of one."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n|\r|\n")
_CONTEXT_LINES = 2  # lines on each side


@dataclass(frozen=True)
class TextEdit:
    """The replacement of the characters `start` to `end` of a text by `text`."""

    start: int
    end: int
    text: str

    def apply_to(self, code: str) -> str:
        """Return `code` with this edit made."""
        return code[: self.start] + self.text + code[self.end :]


def format_unified_diff(name: str, code: str, start: int, before: str, after: str) -> str:
    """Return one hunk: the whole lines `before`, at offset `start` of `code`, become `after`."""
    above = LINE_END.split(code[:start])[:-1]
    below = LINE_END.split(code[start + len(before) :])[1:]
    if below and not below[-1]:  # the text after the last line break is not a line
        below.pop()
    first, last = above[-_CONTEXT_LINES:], below[:_CONTEXT_LINES]
    old = [*first, *LINE_END.split(before), *last]
    new = [*first, *LINE_END.split(after), *last]
    body = list(difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new)))[3:]
    line = len(above) - len(first) + 1
    head = f"@@ -{line},{len(old)} +{line},{len(new)} @@"
    return "\n".join([f"--- {name}", f"+++ {name}", head, *body])
