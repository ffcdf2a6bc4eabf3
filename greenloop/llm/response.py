"""Model answer before it is parsed: its text, JSON in it, truncation and refusal."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from greenloop.llm.parsing.code_blocks import clean_response, extract_blocks, find_unfenced_code
from greenloop.llm.parsing.errors import InvalidResponse

_REFUSAL = re.compile(
    r"\b(I(['’]m| am) (sorry|unable|not able)"
    r"|I (can(no|['’])t|won['’]t|will not) (help|assist|comply|provide|write|do))",
    re.IGNORECASE,
)
_TRUNCATION_REASONS = frozenset(
    {"length", "max_tokens", "MAX_TOKENS", "incomplete", "max_output_tokens"}
)


@dataclass(frozen=True)
class LLMResponse:
    """A model's answer; `finish_reason` is the provider's, None where unknown."""

    text: str
    finish_reason: str | None = None

    @property
    def is_truncated(self) -> bool:
        """Whether the answer ended at a token limit."""
        return self.finish_reason in _TRUNCATION_REASONS


def extract_json(text: str, kind: type[Any]) -> Any:
    """Return the answer's JSON value of one type (dict or list), from a block or bare.

    Raises:
        InvalidResponse: there is none.
    """
    candidates = [
        block.text for block in extract_blocks(text) if block.language in ("json", "json5", "")
    ]
    opening, closing = ("{", "}") if kind is dict else ("[", "]")
    if opening in text and closing in text:
        candidates.append(text[text.index(opening) : text.rindex(closing) + 1])
    for candidate in candidates:
        try:
            value = json.loads(candidate, strict=False)
        except ValueError:
            continue
        if isinstance(value, kind):
            return value
    raise InvalidResponse("Answer with one ```json block holding valid JSON and nothing else.")


def extract_text(response: LLMResponse) -> str:
    """Return the cleaned answer.

    Raises:
        InvalidResponse: it was truncated, is empty, or refuses.
    """
    text = clean_response(response.text)
    if response.is_truncated:
        raise InvalidResponse(
            "The answer was cut off before its end. Answer again, shorter, and whole."
        )
    if not text.strip():
        raise InvalidResponse("The answer was empty.")
    if _REFUSAL.search(text[:400]) and "```" not in text and find_unfenced_code(text) is None:
        raise InvalidResponse(
            "The answer declines the task. It is ordinary programming work: do it."
        )
    return text
