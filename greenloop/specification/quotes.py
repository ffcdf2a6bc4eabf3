"""Quotes of a contract: complaints about them, and the contract without invented quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from textwrap import shorten
from typing import TypeVar

from greenloop.records import Contract, KeptBehaviour, Requirement, Review
from greenloop.specification.background import find_doubtful_background
from greenloop.specification.tracing import Trace

_MAX_COMPLAINTS = 40
_MAX_SHOWN_CHARS = 300
_NO_QUOTES = (
    'No requirement quotes the text: give for each, as "quotes", the passages that ask for it.'
)
_Quoting = TypeVar("_Quoting", Requirement, KeptBehaviour)
_REFUSED = re.compile(r"\bbackground B([1-9][0-9]{0,3})\b", re.IGNORECASE)


def find_complaints(trace: Trace) -> tuple[str, ...]:
    """Return what the contract's writer has to correct or to check again."""
    return tuple(islice(_complain(trace), _MAX_COMPLAINTS))


def find_contradiction(trace: Trace) -> str:
    """Return the first contradiction whose two passages are both in the text; '' for none."""
    for item in trace.contract.contradictions:
        first, second = item.quotes
        places = [trace.index.find(first), trace.index.find(second)]
        if all(places) and places[0] != places[1]:
            call = f" for `{shorten(item.call, _MAX_SHOWN_CHARS)}`" if item.call else ""
            return f"{_show(first)} against {_show(second)}{call}"
    return ""


def _complain(trace: Trace) -> Iterator[str]:
    if sides := find_contradiction(trace):
        yield (
            f"You name a contradiction, {sides}: where one reading meets both, take it, and "
            "answer `Contradictions` with `- none`"
        )
    if not trace.contract.quotes_text:
        yield from (_NO_QUOTES,) if trace.rests else ()
        return
    yield from (f"Nothing takes up this passage: {_show(text)}" for text in trace.rests)
    for label, quote in trace.missing if trace.rests else ():  # it may be what one of them says
        if label != "not covered":  # may be in other words
            yield f"{label}: this does not stand in the text: {_show(quote)}"
    for label, clause in trace.find_neglected_clauses():
        yield f"{label} quotes this, and no requirement says what it asks for: {_show(clause)}"


def _show(text: str) -> str:
    return f'"{shorten(text, _MAX_SHOWN_CHARS, placeholder=" …")}"'


def settle_contract(trace: Trace) -> Contract:
    """Return the contract with the quotes that are in the text, and the uncovered passages."""
    contract, missing = trace.contract, set(trace.missing)
    requirements = tuple(_keep_found_quotes(item, missing) for item in contract.requirements)
    background = (item for item in contract.background if ("background", item.quote) not in missing)
    settled = contract.model_copy(
        update={
            "requirements": requirements,
            "keep": tuple(_keep_found_quotes(item, missing) for item in contract.keep),
            "background": tuple(background),
            "unquoted": trace.rests,
        }
    )
    assumptions = (*contract.assumptions, *_describe_invented(settled))
    return settled.model_copy(update={"assumptions": tuple(dict.fromkeys(assumptions))})


def settle_background(contract: Contract, review: Review) -> Contract:
    """Return the contract with the doubtful background that a review refuses, or does not confirm,
    among what is unquoted.
    """
    named = {int(n) for item in review.findings for n in _REFUSED.findall(item.message)}
    confirmed = {*review.confirmed} - named
    doubtful = enumerate(find_doubtful_background(contract), 1)
    refused = tuple(item for number, item in doubtful if number not in confirmed)
    kept = tuple(item for item in contract.background if item not in refused)
    unquoted = (*contract.unquoted, *(item.quote for item in refused))
    return contract.model_copy(update={"background": kept, "unquoted": unquoted})


def _keep_found_quotes(item: _Quoting, missing: set[tuple[str, str]]) -> _Quoting:
    found = (quote for quote in item.quotes if (item.id, quote) not in missing)
    return item.model_copy(update={"quotes": tuple(found)})


def _describe_invented(contract: Contract) -> Iterator[str]:
    """Yield an assumption for each requirement without a quote, where others have some."""
    for item in contract.requirements if contract.quotes_text else ():
        if not item.quotes:
            yield f"{item.id}: no passage of the specification asks for it"
