"""Quotes of a contract: complaints about them, and the contract without invented quotes."""

from collections.abc import Iterator
from textwrap import shorten
from typing import TypeVar

from greenloop.records import Contract, KeptBehaviour, Requirement
from greenloop.specification.tracing import Trace

_MAX_SHOWN_CHARS = 300
_NO_QUOTES = (
    'No requirement quotes the text: give for each, as "quotes", the passages that ask for it.'
)
_Quoting = TypeVar("_Quoting", Requirement, KeptBehaviour)


def find_complaints(trace: Trace) -> tuple[str, ...]:
    """Return what the contract's writer has to correct or to check again.

    Uncovered passages are no complaint: the review says which of them ask for something.
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
            return f"{show_passage(first)} against {show_passage(second)}{call}"
    return ""


def show_passage(text: str) -> str:
    """Return a passage in quotation marks, cut where it is long."""
    return f'"{shorten(text, _MAX_SHOWN_CHARS, placeholder=" …")}"'


def settle_contract(trace: Trace) -> Contract:
    """Return the contract without quotes that the text lacks, and with the uncovered passages."""
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


def _keep_found_quotes(item: _Quoting, missing: set[tuple[str, str]]) -> _Quoting:
    found = (quote for quote in item.quotes if (item.id, quote) not in missing)
    return item.model_copy(update={"quotes": tuple(found)})


def _describe_invented(contract: Contract) -> Iterator[str]:
    """Yield an assumption for each requirement without a quote, where others have some."""
    for item in contract.requirements if contract.quotes_text else ():
        if not item.quotes:
            yield f"{item.id}: no passage of the specification asks for it"
