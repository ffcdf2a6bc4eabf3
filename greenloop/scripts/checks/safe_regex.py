"""Regular expressions within bounds: no pattern may take the program's time or memory.

They are searched for in a process of its own: `re` cannot be interrupted, and what can be (the
library `regex`) was seen to take all memory for a pattern of 25 characters.
"""

from __future__ import annotations

import re
import warnings

from greenloop.scripts.checks.subprocess_query import query_subprocess

_TIMEOUT_SECONDS = 5.0
_MAX_PATTERN_CHARS = 1000
_PROGRAM = (
    "import json, re, sys; asked = json.load(sys.stdin); "
    "print(json.dumps(bool(re.compile(asked['pattern'], re.M).search(asked['text']))))"
)


def check_pattern(pattern: str) -> None:
    """
    Raises:
        ValueError: it is no regular expression, or too long; the text says why and where.
    """
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ValueError(f"it is longer than {_MAX_PATTERN_CHARS} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(str(error)) from None
    except (OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is too much: {type(error).__name__}") from None


def has_match(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; `^` and `$` are the ends of each line.

    Raises:
        TimeoutError: it took more than 5 seconds.
        ValueError: the pattern is none.
        RuntimeError: it could not be looked for.
    """
    check_pattern(pattern)
    request = {"pattern": pattern, "text": text}
    return (
        query_subprocess(["-I", "-S", "-W", "ignore", "-c", _PROGRAM], request, _TIMEOUT_SECONDS)
        is True
    )
