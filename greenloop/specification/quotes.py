"""Quotes of a contract: complaints about them, and the contract without invented quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import shorten
from typing import TypeVar

from greenloop.records import Contract, KeptBehaviour, Requirement, Review
from greenloop.specification.background import find_doubtful_background
from greenloop.specification.tracing import Trace

_MAX_SHOWN_CHARS = 300
_NO_QUOTES = (
    'No requirement quotes the text: give for each, as "quotes", the passages that ask for it.'
)
_Quoting = TypeVar("_Quoting", Requirement, KeptBehaviour)
REFUSED = re.compile(r"\bbackground B([1-9][0-9]{0,3})\b", re.IGNORECASE)


def find_complaints(trace: Trace) -> tuple[str, ...]:
    """Return what the contract's writer has to correct or to check again.

    Passages that nothing takes up are no complaint: the review says which of them ask for something.
    """
    if sides := find_contradiction(trace):
        return (
            f"You name a contradiction, {sides}: where one reading meets both, take it, and "
            "answer `Contradictions` with `- none`",
        )
    return (_NO_QUOTES,) if trace.rests and not trace.contract.quotes_text else ()


def find_contradiction(trace: Trace) -> str:
    """Return the first contradiction whose two passages are both in the text; '' for none."""
    for item in trace.contract.contradictions:
        first, second = item.quotes
        places = [trace.index.find(first), trace.index.find(second)]
        if all(places) and places[0] != places[1]:
            call = f" for `{shorten(item.call, _MAX_SHOWN_CHARS)}`" if item.call else ""
            return f"{_show(first)} against {_show(second)}{call}"
    return ""


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
            "unquoted": tuple(dict.fromkeys((*trace.rests, *trace.find_neglected_clauses()))),
        }
    )
    assumptions = (*contract.assumptions, *_describe_invented(settled))
    return settled.model_copy(update={"assumptions": tuple(dict.fromkeys(assumptions))})


def settle_background(contract: Contract, review: Review) -> tuple[Contract, tuple[str, ...]]:
    """Return the contract by what a review says of the passages that no requirement quotes, and
    complaints about those that it refuses.

    What it confirms is background, all else that was doubtful is unquoted.
    """
    refused: dict[int, str] = {}
    for finding in review.findings:
        refused.update((int(n), finding.message) for n in REFUSED.findall(finding.message))
    doubtful = [*enumerate(find_doubtful_background(contract), 1)]
    confirmed = [item for n, item in doubtful if n in review.confirmed and n not in refused]
    unquoted = [item.quote for _, item in doubtful if item not in confirmed]
    complaints = (f"{_show(item.quote)}: {refused[n]}" for n, item in doubtful if n in refused)
    kept = (item for item in contract.background if item.quote not in unquoted)
    settled = contract.model_copy(
        update={
            "background": tuple(dict.fromkeys((*kept, *confirmed))),
            "unquoted": tuple(unquoted) if contract.quotes_text else contract.unquoted,
        }
    )
    return settled, tuple(complaints)


def _keep_found_quotes(item: _Quoting, missing: set[tuple[str, str]]) -> _Quoting:
    found = (quote for quote in item.quotes if (item.id, quote) not in missing)
    return item.model_copy(update={"quotes": tuple(found)})


def _describe_invented(contract: Contract) -> Iterator[str]:
    """Yield an assumption for each requirement without a quote, where others have some."""
    for item in contract.requirements if contract.quotes_text else ():
        if not item.quotes:
            yield f"{item.id}: no passage of the specification asks for it"
