"""Regular expressions within bounds: no pattern may take the program's time."""

from __future__ import annotations

from typing import Any

_SECONDS = 2.0
_LONGEST = 1000


def compiled(pattern: str) -> Any:
    """The pattern, multi-line, of the library `regex`: as `re` has it, and it can be timed.

    Raises:
        ValueError: it is none, or too long; the text says why and where.
    """
    import regex  # type: ignore[import-untyped]

    if len(pattern) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST} characters")
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise ValueError(str(error)) from None
    except (OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is too much: {type(error).__name__}") from None


def found(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text.

    Raises:
        TimeoutError: it took more than 2 seconds.
        ValueError: the pattern is none.
    """
    return compiled(pattern).search(text, timeout=_SECONDS) is not None
