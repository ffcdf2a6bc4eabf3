"""Passages of a text that no requirement quotes, and that may ask for something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.records import Background, Contract
from greenloop.specification.interface_names import find_names
from greenloop.specification.passages import index_text, list_words
from greenloop.specification.tracing import Trace
from greenloop.specification.word_lists import OBLIGATIONS, ORDERS, RESULTS, SILENT_WORDS
from greenloop.syntax.nodes import Definition

# An address, of a link or where one is defined, asks for nothing, whatever words it has.
_ADDRESS = re.compile(r"(?:\[[^\]\n]{1,99}\]:[ \t]*)?https?://\S+")


def find_doubtful_background(contract: Contract) -> tuple[Background, ...]:
    """Return the passages that no requirement quotes and that may ask for something.

    Of the background these are those whose words oblige, name a result or a number, or order other
    things. Headings that need no quote need no confirmation either.
    """
    trace = Trace(contract, index_text(contract.specification))
    doubtful = OBLIGATIONS | RESULTS
    defined = frozenset(find_names(contract.interface, Definition))
    background = (
        item
        for item in contract.background
        if (
            _orders_others(words := list_words(_ADDRESS.sub("", item.quote)), defined)
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
    """Return whether something else is to be made than what the interface defines."""
    for at, word in enumerate(words):
        made = next((item for item in words[at + 1 :] if item not in SILENT_WORDS), "")
        if word in ORDERS and made and made not in defined:
            return True
    return False
