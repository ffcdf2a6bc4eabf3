"""Parsers of reviews and judgements."""

import re
from collections.abc import Awaitable

from pydantic import ValidationError

from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Finding, Review
from greenloop.records.generation import Judgement

_FINDING = re.compile(
    r"""^\s*([-*•]|\d+[.)])?\s*[*`\[]*L(?P<line>\d+|\?)(\s*[-–,]\s*L?\d+)*[*`\]]*:?
        \s+[*`\[]*(?P<severity>error|warning|style)[*`\]]*\s*[:—–-]+\**\s*(?P<message>.+)$""",
    re.IGNORECASE | re.VERBOSE,
)
# Neither "not LGTM" nor "LGTM except …".
_LGTM = re.compile(
    r"^\W*LGTM\b(?!.*\b(except|but|however|apart|once|after)\b)|(?<!not )\bLGTM\W*$", re.MULTILINE
)
# `- B1, B3-B5: ask for nothing` for passages, `- C2: needs no answer` for questions.
_LISTED = re.compile(
    r"^\W{0,9}(?:background\s{1,9})?((?P<kind>[BC])\d{1,4}(?:(?:[-,–]|\s|and|to){1,9}[BC]?\d{1,4}){0,999})"
    r"\W{1,9}(?:asks?\s{1,9}for\s{1,9}nothing|needs?\s{1,9}no\s{1,9}answer)\b",
    re.IGNORECASE | re.MULTILINE,
)
_RANGE = re.compile(r"(\d+)(?:\s*(?:-|–|to)\s*[BC]?(\d+))?", re.IGNORECASE)


_REFUSED = re.compile(r"\bbackground B\d", re.IGNORECASE)


class ReviewReader:
    """Parser of a review, which asks once more for a missing line on the passages."""

    def __init__(self, passages: int) -> None:
        self._passages = passages
        self.first: Review | None = None  # used where the second request fails

    def __call__(self, response: LLMResponse) -> Review:
        """Return the review, with the findings of the first answer if this is the second one.

        Raises InvalidResponse: its form is wrong, or the line on the passages is missing.
        """
        review = parse_review(response)
        refused = any(_REFUSED.search(item.message) for item in review.findings)
        if self._passages and not (review.confirmed or refused or response.is_last):
            self.first = review
            raise InvalidResponse(
                "Your review stands; one line of it is missing. Answer with that line alone: which of "
                f"the passages B1 to B{self._passages} ask for nothing, as in `- B1-B3, B5: ask for nothing`."
            )
        first = self.first or Review()
        findings = dict.fromkeys((*first.findings, *review.findings))
        needless = (*first.needless, *review.needless)
        return review.model_copy(update={"findings": tuple(findings), "needless": needless})

    async def complete(self, request: Awaitable[Review]) -> Review:
        """Return the requested review, or that of the first answer if the second request fails."""
        try:
            return await request
        except (ModelFailure, BudgetExhaustedError):
            if self.first is None:
                raise
            return self.first


def parse_review(response: LLMResponse) -> Review:
    """Return the findings of a review.

    Raises InvalidResponse: neither `LGTM` nor a finding in the required form.
    """
    text = extract_text(response)
    confirmed, needless = _read_numbers(text, "B"), _read_numbers(text, "C")
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
    if not (findings or confirmed or needless) and not _LGTM.search(text):
        raise InvalidResponse("Answer `LGTM`, or one finding a line: `- L12 error: message`.")
    return Review(findings=findings, confirmed=confirmed, needless=needless)


def _read_numbers(text: str, kind: str) -> tuple[int, ...]:
    """Return the numbers in the lists of one kind; `B2-B4` has three."""
    lists = [found[1] for found in _LISTED.finditer(text) if found["kind"].upper() == kind]
    ranges = [found.groups() for item in lists for found in _RANGE.finditer(item)]
    return tuple(n for first, last in ranges for n in range(int(first), int(last or first) + 1))


def parse_judgement(response: LLMResponse) -> Judgement:
    """Return whether the test, the code or the text is wrong.

    Raises InvalidResponse: no JSON object with `wrong` being `test`, `code` or `text`.
    """
    value = extract_json(extract_text(response), dict, "wrong")
    try:
        wrong = str(value.get("wrong")).strip().lower()
        return Judgement.model_validate({"wrong": wrong, "because": str(value.get("because", ""))})
    except ValidationError:
        raise InvalidResponse(
            'Answer {"wrong": "test", "code" or "text", "because": "…"}.'
        ) from None
