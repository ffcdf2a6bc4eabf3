"""Assumptions that a review doubts: each becomes a question that the text leaves open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.records import Choice, Contract, Finding, Review
from greenloop.specification.choices import parse_answer, to_one_line

_DOUBTED = re.compile(r"\W{0,3}assumption A?([1-9][0-9]{0,2})\b[*`]*[:\s]*", re.IGNORECASE)


def split_doubts(contract: Contract, review: Review) -> tuple[tuple[Finding, ...], Review]:
    """Return the findings that doubt an assumption of the contract, and the review without them."""
    doubts = tuple(item for item in review.findings if _find_number(contract, item))
    rest = tuple(item for item in review.findings if item not in doubts)
    return doubts, review.model_copy(update={"findings": rest})


def open_doubted_assumptions(contract: Contract, doubts: Sequence[Finding]) -> Contract:
    """Return the contract with the doubted assumptions among its choices, one each."""
    doubted = {_find_number(contract, item): item for item in doubts}
    choices = list(contract.choices)
    for number, finding in sorted(doubted.items()):
        other = to_one_line(_DOUBTED.sub("", finding.message))
        choices.append(_build_choice(contract.assumptions[number - 1], other, choices))
    kept = (item for n, item in enumerate(contract.assumptions, 1) if n not in doubted)
    return contract.model_copy(update={"assumptions": tuple(kept), "choices": tuple(choices)})


def _find_number(contract: Contract, finding: Finding) -> int:
    """Return the number of the assumption that a finding doubts; 0 where it doubts none."""
    found = _DOUBTED.match(finding.message) if finding.severity != "error" else None
    number = int(found[1]) if found else 0
    return number if number <= len(contract.assumptions) else 0


def _build_choice(assumption: str, other: str, choices: list[Choice]) -> Choice:
    """Return whether an assumption is meant; an example at the end of the other reading counts."""
    parts = other.split(": ")
    tails = (": ".join(parts[at:]) for at in range(len(parts)))
    example = next((tail for tail in tails if parse_answer(tail)), "")
    known = {item.id for item in choices}
    number = next(n for n in range(1, len(known) + 2) if f"C{n}" not in known)
    doubt = f" Or: {other}" if other else ""
    question = to_one_line(f"{assumption} Is that meant?{doubt}", 500)
    answers = ("yes", example or "no")
    return Choice(id=f"C{number}", question=question, answers=answers, chosen="yes")
