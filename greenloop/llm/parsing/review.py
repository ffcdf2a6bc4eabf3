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
    r"""^\s*([-*•]|\d+[.)])?\s*[*`\[]*L(ines?\s+)?(?P<line>\d+|\?)(\s*[-–,]\s*L?\d+)*[*`\]]*[:,]?
        \s+[*`\[(]*(?P<severity>error|warning|style)([*`]*\s*[:—–-]+|[*`]*[\])]+[*`]*[:—–-]*|\*+:?)
        \**\s*(?P<message>\S.*)$""",
    re.IGNORECASE | re.VERBOSE,
)
_LGTM = re.compile(r"\bLGTM\b")
_BEGINS_CLEAN = re.compile(r"\W*LGTM\b(?![^\n]*\b(except|but|however|apart|once|after|no|not)\b)")
_PRAISE = re.compile(
    r"""\b(no|not|nothing|without)\s+(\w+\s+){0,3}
        (bugs?|concerns?|defects?|errors?|findings?|issues?|mistakes?|problems?|warnings?|wrong)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# "Not LGTM", "LGTM?", "LGTM except …", "LGTM, but line 3 …", and findings of another form.
_DOUBT = re.compile(
    r"""\?|n['’]t\b|\bL(ines?\s*)?\d|\b(after|although|apart|but|cannot|errors?|except|fails?|fix
        |however|if|must|needs?|never|no|nor|not|once|should|unless|until|warnings?|wrong|yet)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_UNREAD = re.compile(r"\W*L(ines?\s*)?\d.*\b(error|warning)\b", re.IGNORECASE)
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

    Raises InvalidResponse: neither a plain `LGTM` nor findings, all in the required form.
    """
    text = extract_text(response)
    confirmed, needless = _read_numbers(text, "B"), _read_numbers(text, "C")
    lines = text.split("\n")
    findings = tuple(_read_finding(item) for item in map(_FINDING.match, lines) if item)
    others = [line for line in lines if not _FINDING.match(line) and not _LISTED.match(line)]
    rest = _PRAISE.sub("", "\n".join(others))
    is_clean = (confirmed or needless or _LGTM.search(rest)) and not _DOUBT.search(rest)
    is_clean = is_clean or (response.is_last and bool(_BEGINS_CLEAN.match(rest)))
    is_read = response.is_last or not any(map(_UNREAD.match, others))
    if not (is_read if findings else is_clean):
        raise InvalidResponse(
            "Answer `LGTM` and nothing else, or one finding a line: `- L12 error: message`."
        )
    return Review(findings=findings, confirmed=confirmed, needless=needless)


def _read_finding(found: re.Match[str]) -> Finding:
    return Finding.model_validate(
        {
            "line": None if found["line"] == "?" else int(found["line"]),
            "severity": found["severity"].lower(),
            "message": found["message"].strip(),
        }
    )


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
