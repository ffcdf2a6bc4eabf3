"""What a model said, before it is read: whole, or not; JSON, or not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from greenloop.llm.parsing.code_blocks import blocks, cleaned, unfenced_code
from greenloop.llm.parsing.errors import Unusable

_REFUSAL = re.compile(
    r"\b(I(['’]m| am) (sorry|unable|not able)"
    r"|I (can(no|['’])t|won['’]t|will not) (help|assist|comply|provide|write|do))",
    re.IGNORECASE,
)
_CUT = frozenset({"length", "max_tokens", "MAX_TOKENS", "incomplete", "max_output_tokens"})


@dataclass(frozen=True)
class Answer:
    """What a model said. `finish` is the provider's word for why it ended, None where unknown."""

    text: str
    finish: str | None = None

    @property
    def cut_off(self) -> bool:
        return self.finish in _CUT


def json_value(text: str, kind: type[Any]) -> Any:
    """The answer's JSON value of one kind (dict or list): from a block, or bare.

    Raises:
        Unusable: there is none.
    """
    candidates = [block.text for block in blocks(text) if block.language in ("json", "json5", "")]
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
    raise Unusable("Answer with one ```json block holding valid JSON and nothing else.")


def whole_text(answer: Answer) -> str:
    """The cleaned answer.

    Raises:
        Unusable: it was cut off, is empty, or refuses.
    """
    text = cleaned(answer.text)
    if answer.cut_off:
        raise Unusable("The answer was cut off before its end. Answer again, shorter, and whole.")
    if not text.strip():
        raise Unusable("The answer was empty.")
    if _REFUSAL.search(text[:400]) and "```" not in text and unfenced_code(text) is None:
        raise Unusable("The answer declines the task. It is ordinary programming work: do it.")
    return text
