"""What a contract says besides its requirements: assumptions, and background that asks for nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.records import Background, Choice, Contract, Finding, Review
from greenloop.specification.choices import parse_answer, to_one_line
from greenloop.specification.interface_names import find_names
from greenloop.specification.passages import index_text, list_words
from greenloop.specification.tracing import Trace
from greenloop.specification.word_lists import OBLIGATIONS, ORDERS, RESULTS, SILENT_WORDS
from greenloop.syntax.nodes import Definition

# An address, of a link or where one is defined, asks for nothing, whatever words it has.
_ADDRESS = re.compile(r"(?:\[[^\]\n]{1,99}\]:[ \t]*)?https?://\S+")


def find_doubtful_background(contract: Contract) -> tuple[Background, ...]:
    """Return the background whose words oblige, name a result or a number, or order other things.

    Headings that need no quote need no confirmation either.
    """
    if not contract.background:
        return ()
    trace = Trace(contract, index_text(contract.specification))
    doubtful = OBLIGATIONS | RESULTS
    defined = frozenset(find_names(contract.interface, Definition))
    return tuple(
        item
        for item in contract.background
        if (
            _orders_others(words := list_words(_ADDRESS.sub("", item.quote)), defined)
            or any(word in doubtful or word.lstrip("-")[:1].isdigit() for word in words)
        )
        and _may_ask(trace, item.quote)
    )


def _may_ask(trace: Trace, quote: str) -> bool:
    words = trace.index.find(quote)
    return words is None or trace.may_ask(trace.find_block(words), words)


def _orders_others(words: Sequence[str], defined: frozenset[str]) -> bool:
    """Return whether something else is to be made than what the interface defines."""
    for at, word in enumerate(words):
        made = next((item for item in words[at + 1 :] if item not in SILENT_WORDS), "")
        if word in ORDERS and made and made not in defined:
            return True
    return False


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
