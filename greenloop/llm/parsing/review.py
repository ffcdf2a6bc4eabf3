"""Parsers of reviews and judgements."""

from __future__ import annotations

import re

from pydantic import ValidationError

from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Finding, Review
from greenloop.records.generation import Judgement

_FINDING = re.compile(
    r"""^\s*([-*•]|\d+[.)])?\s*[*`\[]*L(?P<line>\d+|\?)(\s*[-–,]\s*L?\d+)*[*`\]]*:?
        \s+[*`\[]*(?P<severity>error|warning|style)[*`\]]*\s*[:—–-]+\**\s*(?P<message>.+)$""",
    re.IGNORECASE | re.VERBOSE,
)
# Not as in "not LGTM" or "LGTM except …".
_LGTM = re.compile(
    r"^\W*LGTM\b(?!.*\b(except|but|however|apart|once|after)\b)|(?<!not )\bLGTM\W*$", re.MULTILINE
)
# `- B1, B2, B5: ask for nothing`, of background.
_CONFIRMED = re.compile(
    r"^\W{0,9}(?:background\s{1,9})?(B\d{1,4}(?:(?:,|\s|and){1,9}B\d{1,4}){0,999})"
    r"\W{1,9}asks?\s{1,9}for\s{1,9}nothing\b",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\d+")


def parse_review(response: LLMResponse) -> Review:
    """Return the findings of a review.

    Raises:
        InvalidResponse: neither `LGTM` nor a finding in the required form.
    """
    text = extract_text(response)
    lists = _CONFIRMED.findall(text)
    confirmed = tuple(int(number) for item in lists for number in _NUMBER.findall(item))
    found = filter(None, map(_FINDING.match, text.split("\n")))
    findings = tuple(
        Finding.model_validate(
            {
                "line": None if item["line"] == "?" else int(item["line"]),
                "severity": item["severity"].lower(),
                "message": item["message"].strip(),
            }
        )
        for item in found
    )
    if not findings and not confirmed and not _LGTM.search(text):
        raise InvalidResponse("Answer `LGTM`, or one finding a line: `- L12 error: message`.")
    return Review(findings=findings, confirmed=confirmed)


def parse_judgement(response: LLMResponse) -> Judgement:
    """Return whether the test, the code or the text is wrong.

    Raises:
        InvalidResponse: no JSON object with `wrong` being `test`, `code` or `text`.
    """
    value = extract_json(extract_text(response), dict, "wrong")
    try:
        wrong = str(value.get("wrong")).strip().lower()
        return Judgement.model_validate({"wrong": wrong, "because": str(value.get("because", ""))})
    except ValidationError:
        raise InvalidResponse(
            'Answer {"wrong": "test", "code" or "text", "because": "…"}.'
        ) from None
