"""Toolkit for a second implementation of the text, and for rulings on its differences."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from greenloop.grading.inputs.known_calls import read_public
from greenloop.grading.peer.records import Comparison
from greenloop.llm.parsing.peer import parse_peer, parse_rulings
from greenloop.records import Choice, Contract
from greenloop.records.evidence.peer import MIN_ALLOWED_INPUTS
from greenloop.records.generation import DifferenceRuling, GeneratedPeer
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.bare_interface import reduce_interface
from greenloop.tools.toolkit import PromptCaller

_MIN_COUNTED_CHARS = 12  # string literals longer than this are shown with their length
_SHOWN_CHARS = 8


@dataclass(frozen=True)
class ShownDifference:
    """An input and the two answers to it, in the order in which the judge sees them."""

    id: int
    call: str
    first: str
    second: str
    is_test: bool = False  # the input is a test; the answers say which program passes it

    @property
    def lengths(self) -> str:
        """The lengths of long string literals, which a reader cannot count."""
        found = dict.fromkeys(
            text for source in (self.call, self.first, self.second) for text in _find_texts(source)
        )
        return ", ".join(f"{text[:_SHOWN_CHARS]!r}… {len(text)}" for text in found)


@dataclass(frozen=True)
class FailedExample:
    """A test of an example that a second implementation fails, and the failure's message."""

    source: str
    message: str


class PeerToolkit(PromptCaller):
    """Calls that see the user's text and no code. All methods raise GreenloopError."""

    async def write_peer(
        self,
        contract: Contract,
        failed_examples: Sequence[FailedExample] = (),
        previous: GeneratedPeer | None = None,
        short: Comparison | None = None,
    ) -> GeneratedPeer:
        """Return a second implementation, with a generator of inputs and a precondition.

        Of the contract the prompt shows the text, names and parameters of the interface, and the
        choices taken, so that the implementations do not differ in these. `short` is a comparison
        with `previous` that had too few inputs.
        """
        text, names = contract.text_with_answers, read_public(contract.interface, "")
        return await self.call(
            "write_peer",
            partial(parse_peer, interface=contract.interface, module=contract.module),
            module=contract.module,
            names=names,
            with_names=len(names) > 1 or any(f"class {i}" in contract.interface for i in names),
            interface=reduce_interface(contract.interface, text),
            specification=text,
            taken=contract.taken_choices,
            packages=[
                item
                for item in contract.packages
                if re.search(rf"(?<!\w){re.escape(item)}(?!\w)", text, re.IGNORECASE)
            ],
            failed_examples=failed_examples,
            short=short,
            min_inputs=MIN_ALLOWED_INPUTS,
            previous=previous.code if previous else "",
            previous_inputs=previous.inputs if previous else "",
        )

    async def judge_difference(
        self,
        specification: str,
        differences: Sequence[ShownDifference],
        taken: Sequence[Choice] = (),
    ) -> tuple[DifferenceRuling, ...]:
        """Return a ruling on each difference; the prompt shows text and choices, no code."""
        return await self.call(
            "judge_difference",
            partial(parse_rulings, ids=[item.id for item in differences]),
            specification=specification,
            differences=differences,
            taken=taken,
        )


def _find_texts(source: str) -> Iterator[str]:
    """Yield the long string literals of a call or an answer that is valid Python."""
    tree = parse_or_none(source)
    for node in ast.walk(tree) if tree else ():
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and len(value) > _MIN_COUNTED_CHARS:
            yield value
