"""Search for a test's pattern in a text of the code, in bounded time."""

from __future__ import annotations

import re

from greenloop.grading.observation.values import NoEvidenceError

# A pattern with repetitions of groups can take forever on a text that is made for it.
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{?]|\\[1-9]|\(\?P=")
_REPETITION = re.compile(r"(?<!\\)[*+{]")
_MAX_REPETITIONS, _MAX_TEXT = 4, 250


def search(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text.

    Raises:
        NoEvidenceError: that might take too long.
    """
    count = len(_REPETITION.findall(pattern))
    is_long = count > _MAX_REPETITIONS or (count > 1 and len(text) > _MAX_TEXT)
    if is_long or _REPEATED_GROUP.search(pattern):
        raise NoEvidenceError("a pattern that might take too long")
    return re.search(pattern, text) is not None
