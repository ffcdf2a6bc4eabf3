"""Features of a request that a server refuses: left out from then on."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

Feature = Literal["stream_options", "stream", "system", "temperature"]
# Tried in this order: `stream_options` has `stream` in its name.
_SAID: tuple[tuple[Feature, re.Pattern[str]], ...] = (
    ("stream_options", re.compile(r"stream_options|include_usage", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature", re.IGNORECASE)),
    (
        "system",
        re.compile(r"\bsystem\b.{0,40}\b(role|message|prompt)|\brole.{0,60}\bsystem\b", re.I),
    ),
    (
        "stream",
        re.compile(r"\bstream(ing|ed)?\b|No generation chunks were returned", re.IGNORECASE),
    ),
)
_REFUSALS = (400, 404, 405, 415, 422, 501)


def find_refused_feature(error: BaseException, left_out: Collection[str]) -> Feature | None:
    """Return the feature that an error refuses and that was not left out already."""
    status = getattr(error, "status_code", None)
    if status not in _REFUSALS and not isinstance(error, ValueError):
        return None
    text = str(error)
    for name, pattern in _SAID:
        if pattern.search(text):
            return None if name in left_out else name
    return None
