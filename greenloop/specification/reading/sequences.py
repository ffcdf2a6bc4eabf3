"""Calls to which one passage gives several results: they have state, and no result holds alone."""

import ast
import re
from collections.abc import Iterable, Iterator

from greenloop.records import GivenExample
from greenloop.syntax.parse import read_literal

_STATED = re.compile(r">>> ([^\n]*(?:\n\.\.\. [^\n]*)*)\n(.*)", re.DOTALL)
_MAX_SHOWN_CHARS = 120


def leave_out_sequences(
    claims: Iterable[tuple[GivenExample | str, bool]],
) -> Iterator[GivenExample | str]:
    """Yield the claims of a passage, those of calls with state as unclear passages.

    Each claim has a mark whether words before it (`the next call of`) put it into an order.
    """
    found = list(claims)
    first: dict[str, str] = {}
    with_state = set()
    for item, is_ordered in found:
        if isinstance(item, GivenExample):
            call, shown = _split(item)
            before = first.setdefault(call, shown)
            if is_ordered or (before != shown and value_key(before) != value_key(shown)):
                with_state.add(call)
    for item, _ in found:
        call, shown = _split(item) if with_state and isinstance(item, GivenExample) else ("", "")
        is_alone = call not in with_state
        yield item if is_alone else f"{call}: {shown.rpartition(chr(10))[2]}"[:_MAX_SHOWN_CHARS]


def _split(example: GivenExample) -> tuple[str, str]:
    """Return the call of an example of one statement, and its result as shown."""
    found = _STATED.fullmatch(example.doctest)
    call, shown = (found[1], found[2].strip()) if found else (example.doctest, "")
    if call.endswith(" is None") and shown == "True":
        return call.removesuffix(" is None"), "None"
    return call, shown


def value_key(shown: str) -> str:
    """Return a text that is equal for equal literals (`2` and `2.0`)."""
    for value in read_literal(shown):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return f"number {float(value)}" if is_number else ast.dump(ast.parse(shown))
    return shown
