"""What a run's spans are handed to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

SpanType = Literal["run", "model", "sandbox"]
AttributeValue = str | int | float | bool


@dataclass(frozen=True)
class SpanData:
    """What is said of a span. `content` is what only those may see who asked for it: it is empty
    unless they did. `tokens` are those of the prompt and of the answer."""

    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[int, int] | None = None
    error: str | None = None  # the kind of it, never its text


class TracingSettingError(Exception):
    """What the environment asks for cannot be had; its text says why, and holds no secret."""


class Tracer(Protocol):
    """One way out of the process. Spans are its own objects; it never blocks."""

    def start(self, kind: SpanType, name: str, parent: Any, data: SpanData) -> Any:
        """A span that begins now; `parent` is None for a run."""
        ...

    def end(self, span: Any, data: SpanData) -> None:
        """It has ended now; what is known of it now is added."""
        ...

    def close(self) -> None:
        """Sends what is not sent yet. May block."""
        ...
