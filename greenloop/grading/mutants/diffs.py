"""A change of a few lines in the unified form that people know."""

from __future__ import annotations

import difflib
import re

_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROUNDINGS = 2  # lines on each side


def unified(name: str, code: str, start: int, before: str, after: str) -> str:
    """One hunk: the whole lines `before`, which begin at offset `start` of `code`, become `after`."""
    above = _LINE_END.split(code[:start])[:-1]
    below = _LINE_END.split(code[start + len(before) :])[1:]
    if below and not below[-1]:  # what follows the last line break is no line
        below.pop()
    first, last = above[-_SURROUNDINGS:], below[:_SURROUNDINGS]
    old = [*first, *_LINE_END.split(before), *last]
    new = [*first, *_LINE_END.split(after), *last]
    body = list(difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new)))[3:]
    line = len(above) - len(first) + 1
    head = f"@@ -{line},{len(old)} +{line},{len(new)} @@"
    return "\n".join([f"--- {name}", f"+++ {name}", head, *body])
