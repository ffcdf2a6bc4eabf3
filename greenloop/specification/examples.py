"""Signatures and examples that a specification states."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.errors import SpecificationError
from greenloop.records import GivenExample
from greenloop.specification.reading.code_blocks import find_code_examples, hide_doctests
from greenloop.specification.reading.doctests import (
    extract_doctests,
    find_undefined_names,
    get_error_name,
    parse_doctest,
)
from greenloop.specification.reading.inputs_outputs import find_input_output_examples
from greenloop.specification.reading.sentences import find_stated_examples
from greenloop.specification.reading.sequences import value_key
from greenloop.specification.signatures import PYTHON_BLOCKS, extract_signatures, split_blocks
from greenloop.syntax.parse import cache_by_source, parse_or_none

_TEXT_BLOCKS = (*PYTHON_BLOCKS, "pycon", "text", "txt", "plain", "plaintext", "doctest")

_MAX_SHOWN_CHARS = 120
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Specification:
    """A specification's text, with the signatures (as stub source) and examples that it states."""

    text: str
    signatures: str
    examples: tuple[GivenExample, ...]
    unclear: tuple[str, ...] = ()  # passages that look like an example and are not understood


@cache_by_source
def analyze_specification(specification: str) -> Specification:
    """Extract what a text states in Python: signatures, doctests, and claims like `f(1) -> 2`."""
    text = specification.replace("\r\n", "\n").replace("\r", "\n")
    signatures = extract_signatures(text)
    found = [*extract_doctests(text), *_find_examples(text)]
    found += find_input_output_examples(text, signatures)
    examples = (item for item in found if isinstance(item, GivenExample))
    unclear = (item for item in found if isinstance(item, str))
    return Specification(
        specification,
        signatures,
        tuple(dict.fromkeys(examples)),
        tuple(dict.fromkeys(unclear)),
    )


def _find_examples(text: str) -> Iterator[GivenExample | str]:
    for language, part in split_blocks(text):
        if language is not None and language not in _TEXT_BLOCKS:
            continue
        tree = parse_or_none(part) if language in PYTHON_BLOCKS else None
        if tree is not None and tree.body:
            yield from find_code_examples(tree, part)
        else:
            yield from find_stated_examples(hide_doctests(part))


def filter_usable_examples(
    examples: tuple[GivenExample, ...], names: frozenset[str]
) -> tuple[GivenExample, ...]:
    """Return the examples that use a name of the interface, and no other undefined name."""
    return tuple(
        item
        for item in examples
        if find_undefined_names(item) <= names
        and not names.isdisjoint(_WORD.findall(item.doctest))  # not `ord("a") -> 97` alone
    )


def summarize_example(example: GivenExample) -> str:
    """Return the last part of an example in a line: `f(1): 2`."""
    last = parse_doctest(example.doctest)[-1]
    shown = get_error_name(last) or last.want
    return f"{last.source.strip()}: {shown}".strip(" :\n").split("\n")[0][:_MAX_SHOWN_CHARS]


def check_consistency(examples: tuple[GivenExample, ...]) -> None:
    """Raise SpecificationError where two examples give one call different results."""
    seen: dict[str, tuple[str, str]] = {}
    for example in examples:
        parts = parse_doctest(example.doctest)
        if len(parts) != 1 or not parts[0].want:
            continue
        call, shown = parts[0].source.strip(), get_error_name(parts[0]) or parts[0].want.strip()
        tree = parse_or_none(call)
        before = seen.setdefault(ast.dump(tree) if tree else call, (value_key(shown), shown))
        if before[0] != value_key(shown):
            raise SpecificationError(
                f"the text contradicts itself: it says `{call}` is {before[1]}, and `{call}` is "
                f"{shown}: correct one of the two, or show calls in their order as one doctest"
            )
