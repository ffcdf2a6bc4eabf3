"""Model answer before it is parsed: its text, JSON in it, truncation and refusal."""

import re
from dataclasses import dataclass
from typing import Any

from greenloop.llm.budget import TokenCount
from greenloop.llm.parsing.code_blocks import (
    clean_response,
    drop_unfinished,
    extract_blocks,
    find_unfenced_code,
)
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.json_values import find_bare_values, iterate_values, read_json

_REFUSAL = re.compile(
    r"\b(I(['’]m| am) (sorry|unable|not able)"
    r"|I (can(no|['’])t|won['’]t|will not) (help|assist|comply|provide|write|do))",
    re.IGNORECASE,
)
_TRUNCATION_REASONS = frozenset(
    {"length", "max_tokens", "MAX_TOKENS", "incomplete", "max_output_tokens"}
)
_FILTER_REASONS = re.compile(
    r"filter|safety|refusal|recitation|blocklist|prohibited", re.IGNORECASE
)

# Of a repeated passage: its characters, its repetitions, the characters of all of these. A table of
# zeros repeats its rows too.
_MAX_PERIOD, _MIN_TIMES, _MIN_REPEATED = 500, 8, 6_000


@dataclass(frozen=True)
class LLMResponse:
    """A model's answer; what the provider does not report is None."""

    text: str
    finish_reason: str | None = None
    usage: TokenCount | None = None
    model: str | None = None
    is_last: bool = False  # there is no further request: use every valid part

    @property
    def is_truncated(self) -> bool:
        """Whether the answer ended at a token limit."""
        return self.finish_reason in _TRUNCATION_REASONS


def is_repeating(text: str) -> bool:
    """Return whether a text ends in a repeated passage: small models can loop without end."""
    ending, tail = text[-50:], text[-_MAX_PERIOD - 50 :]
    period = len(tail) - tail.rfind(ending, 0, -1) - len(ending)
    tail = text[-max(_MIN_TIMES * period, _MIN_REPEATED) :]
    is_long = len(tail) >= max(_MIN_TIMES * period, _MIN_REPEATED)
    return is_long and period <= _MAX_PERIOD and tail[period:] == tail[:-period]


def extract_json(text: str, kind: type[Any], *keys: str) -> Any:
    """Return the answer's last JSON value of one type (dict or list), from a block or bare.

    A dict has to have one of `keys`, where some are given.
    Raises InvalidResponse: there is none; the message locates the error in the last invalid one.
    """

    blocks = [item.text for item in extract_blocks(text) if "\ndef " not in item.text]
    complaint = ""
    for candidate in (*reversed(blocks), *find_bare_values(text)):
        try:
            value = read_json(candidate)
        except InvalidResponse as error:
            complaint = complaint or f"{error} "
            continue
        for item in iterate_values(value):
            if isinstance(item, kind) and (not keys or not set(keys).isdisjoint(item)):
                return item
    raise InvalidResponse(
        f"{complaint}Answer with one ```json block holding valid JSON and nothing else."
    )


def _explain_empty(response: LLMResponse) -> tuple[str, str]:
    """Return the messages to the model and to the user about an answer without text."""
    if response.finish_reason and _FILTER_REASONS.search(response.finish_reason):
        return (
            "The answer was withheld by a content filter. Answer in plain technical words.",
            "The provider's content filter withholds the answer: word the text otherwise, or use "
            "another model.",
        )
    if response.is_truncated:
        return (
            "The answer ended before it began: do not think aloud, give the answer itself.",
            "The model's whole answer went into its reasoning: raise the server's limit of answered "
            "tokens, or turn its reasoning off.",
        )
    return (
        "The answer was empty.",
        "The server sent no text: look at its log, or use another model.",
    )


def extract_text(response: LLMResponse) -> str:
    """Return the cleaned answer. Raises InvalidResponse: it was truncated, is empty, or refuses."""
    text = clean_response(response.text)
    if response.is_truncated and text.strip():
        text = drop_unfinished(text) if response.is_last else ""
        if not text.strip() and is_repeating(response.text):
            raise InvalidResponse(
                "The answer repeated one passage, and was ended. Answer again, without repetitions.",
                "The model repeats itself without end: use another model.",
            )
        if not text.strip():
            raise InvalidResponse(
                "The answer was cut off before its end. Answer again, shorter, and whole.",
                "The server's limit of answered tokens, or its context length, is too small.",
            )
    if not text.strip():
        raise InvalidResponse(*_explain_empty(response))
    if _REFUSAL.search(text[:400]) and "```" not in text and find_unfenced_code(text) is None:
        raise InvalidResponse(
            "The answer declines the task. It is ordinary programming work: do it."
        )
    return text
