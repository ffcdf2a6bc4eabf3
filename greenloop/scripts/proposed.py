"""The checks that a model proposes, read from its JSON."""

from __future__ import annotations

from greenloop.records.output_check import OutputCheck


def read_proposed(items: list[object]) -> tuple[OutputCheck, ...]:
    """The checks of a list such as `[{"check": "stdout", "contains": "Total"}]`, origin `generated`.

    Raises:
        ValueError: an item has no meaning; the text says which and how it is written right.
    """
    raise NotImplementedError
