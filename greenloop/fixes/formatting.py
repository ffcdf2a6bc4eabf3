"""black, in this process: starting its command line costs more than formatting does."""

from __future__ import annotations


def formatted(code: str) -> str:
    """The code as black writes it; as it is where black cannot read it."""
    import black

    try:
        return black.format_str(code, mode=black.Mode())
    except (ValueError, AssertionError, RecursionError, MemoryError):
        return code
