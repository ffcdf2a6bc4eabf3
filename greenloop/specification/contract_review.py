"""What a review says of a contract: assumptions that it doubts, and questions that need no answer."""

from __future__ import annotations

import re

from greenloop.records import Choice, Contract, Finding, Review
from greenloop.specification.choices import parse_answer, to_one_line
from greenloop.specification.quotes import REFUSED

_DOUBTED = re.compile(r"\W{0,3}assumption A?([1-9][0-9]{0,2})\b[*`]*[:\s]*", re.IGNORECASE)


def split_review(contract: Contract, review: Review) -> tuple[Review, Review]:
    """Return what a review says of the contract, and what it says of the code."""
    findings = review.findings
    own = tuple(i for i in findings if _find_number(contract, i) or REFUSED.search(i.message))
    rest = tuple(item for item in findings if item not in own or item.severity == "error")
    return review.model_copy(update={"findings": own}), Review(findings=rest)


def apply_review(contract: Contract, review: Review) -> Contract:
    """Return the contract with the doubted assumptions among its choices, one each, and the choices
    that need no answer among its assumptions.
    """
    doubted = {_find_number(contract, item): item for item in review.findings}
    open_choices = enumerate(contract.open_choices, 1)
    needless = [item for number, item in open_choices if number in review.needless]
    choices = [item for item in contract.choices if item not in needless]
    for number, finding in sorted(doubted.items()):
        if number:
            other = to_one_line(_DOUBTED.sub("", finding.message))
            choices.append(_build_choice(contract.assumptions[number - 1], other, choices))
    assumptions = [item for n, item in enumerate(contract.assumptions, 1) if n not in doubted]
    assumptions += [f"{item.question} {item.chosen}" for item in needless]
    update = {"assumptions": tuple(assumptions), "choices": tuple(choices)}
    return contract.model_copy(update=update)


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
