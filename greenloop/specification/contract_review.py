"""Questions of a review about a contract, and the contract after the review's answers."""

import re
from collections.abc import Sequence

from greenloop.records import Background, Choice, Contract, Finding, Review
from greenloop.specification.choices import parse_answer, to_one_line
from greenloop.specification.interface_names import find_names
from greenloop.specification.passages import index_text, list_words
from greenloop.specification.quotes import show_passage
from greenloop.specification.tracing import Trace
from greenloop.specification.word_lists import OBLIGATIONS, ORDERS, RESULTS, SILENT_WORDS
from greenloop.syntax.nodes import Definition

_DOUBTED = re.compile(
    r"\W{0,3}assumption A?([1-9][0-9]{0,2})\b[*`]*[:\s]*(?:the other reading:\s*)?", re.IGNORECASE
)
_REFUSED = re.compile(r"\bbackground B([1-9][0-9]{0,3})\b", re.IGNORECASE)


def find_doubtful_background(contract: Contract) -> tuple[Background, ...]:
    """Return the passages that no requirement quotes and that may ask for something.

    Background is among them if its words oblige, name a result or a number, or order other things
    to be made. Headings that need no quote need no confirmation either.
    """
    trace = Trace(contract, index_text(contract.specification))
    doubtful = OBLIGATIONS | RESULTS
    defined = frozenset(find_names(contract.interface, Definition))
    background = (
        item
        for item in contract.background
        if (
            _orders_others(words := list_words(item.quote), defined)
            or any(word in doubtful or word.lstrip("-")[:1].isdigit() for word in words)
        )
        and _may_ask(trace, item.quote)
    )
    rests = contract.unquoted if contract.quotes_text else ()
    return (*background, *(Background(quote=item) for item in rests))


def _may_ask(trace: Trace, quote: str) -> bool:
    words = trace.index.find(quote)
    return words is None or trace.may_ask(trace.find_block(words), words)


def _orders_others(words: Sequence[str], defined: frozenset[str]) -> bool:
    """Return whether the words order something to be made that the interface does not define."""
    for at, word in enumerate(words):
        made = next((item for item in words[at + 1 :] if item not in SILENT_WORDS), "")
        if word in ORDERS and made and made not in defined:
            return True
    return False


def settle_background(contract: Contract, review: Review) -> tuple[Contract, tuple[str, ...]]:
    """Return the contract after the review of its doubtful passages, and complaints about some.

    Confirmed passages become background, all other doubtful ones are unquoted. The complaints are
    about passages that the review refuses as background.
    """
    refused: dict[int, str] = {}
    for finding in review.findings:
        refused.update((int(n), finding.message) for n in _REFUSED.findall(finding.message))
    doubtful = [*enumerate(find_doubtful_background(contract), 1)]
    confirmed = [item for n, item in doubtful if n in review.confirmed and n not in refused]
    unquoted = [item.quote for _, item in doubtful if item not in confirmed]
    complaints = (
        f"{show_passage(item.quote)}: {refused[n]}" for n, item in doubtful if n in refused
    )
    kept = (item for item in contract.background if item.quote not in unquoted)
    settled = contract.model_copy(
        update={
            "background": tuple(dict.fromkeys((*kept, *confirmed))),
            "unquoted": tuple(unquoted) if contract.quotes_text else contract.unquoted,
        }
    )
    return settled, tuple(complaints)


def split_review(contract: Contract, review: Review) -> tuple[Review, Review]:
    """Return the findings on the contract, and those on the code, with all errors."""
    findings = review.findings
    own = tuple(i for i in findings if _find_number(contract, i) or _REFUSED.search(i.message))
    rest = tuple(item for item in findings if item not in own or item.severity == "error")
    return review.model_copy(update={"findings": own}), Review(findings=rest)


def apply_review(contract: Contract, review: Review) -> Contract:
    """Turn doubted assumptions into choices, and choices that need no answer into assumptions."""
    doubted = {_find_number(contract, item): item for item in review.findings}
    asked = enumerate(contract.taken_choices, 1)
    needless = [item for number, item in asked if number in review.needless]
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
    """Return a choice between an assumption, which was taken, and the other reading.

    An example at the end of the other reading becomes the second answer.
    """
    parts = other.split(": ")
    tails = (": ".join(parts[at:]) for at in range(len(parts)))
    example = next((tail for tail in tails if parse_answer(tail)), "")
    known = {item.id for item in choices}
    number = next(n for n in range(1, len(known) + 2) if f"C{n}" not in known)
    taken, words = assumption.rstrip(". "), other.removesuffix(example).rstrip(":. ")
    doubt = f'is "{taken}" meant, or "{words}"?' if words else f'is "{taken}" meant?'
    answers = (f"as assumed: {taken}", example or other or "no")
    question = to_one_line(doubt, 500)
    return Choice(id=f"C{number}", question=question, answers=answers, chosen=answers[0])
