"""Tracing: which requirement covers which words of the text, and which words are not covered."""

import ast
import doctest
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice

from greenloop.records import Contract, GivenExample, KeptBehaviour, Requirement
from greenloop.specification.interface_names import find_names, list_signature_lines
from greenloop.specification.passages import Block, PassageIndex, index_text, list_words
from greenloop.specification.reading.doctests import parse_doctest
from greenloop.specification.word_lists import OBLIGATIONS, SILENT_WORDS, STUB_WORDS
from greenloop.syntax.nodes import Definition

_MAX_QUOTES = 4000  # further ones cover nothing
_MAX_WORDS_TO_RESULT = 8  # between an example's call and its result
_MAX_HEADING_WORDS = 4  # of content; a longer heading is read as a sentence
_MAX_WORDS_TO_SIGNATURE = 8
_MIN_REPEATED_WORDS = 8
_STEM_CHARS = 5
_EMPTY_BODY = ["pass"]


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a quote, as word numbers. `label` is a requirement's id or a kind."""

    label: str
    words: range


@dataclass
class Trace:
    """The quotes of a contract in its text. `missing` has label and text of those not found."""

    contract: Contract
    index: PassageIndex
    places: list[Place] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)

    @cached_property
    def covered(self) -> frozenset[int]:
        """The numbers of the words that are quoted, or part of an example or signature."""
        quoted = {number for place in self.places for number in place.words}
        signatures = {n for item in self.places if item.label == "signature" for n in item.words}
        return frozenset(quoted.union(self.index.list_samples(quoted, signatures)))

    @cached_property
    def rests(self) -> tuple[str, ...]:
        """The uncovered passages that may state a requirement."""
        return tuple(
            self.index.excerpt(run[0], run[-1] + 1)
            for block in self.index.blocks
            for run in self._find_uncovered_runs(block)
            if self.may_ask(block, run) and not self._is_repeated(run)
        )

    def find_block(self, words: range) -> Block:
        """Return the block of the text in which a passage begins."""
        return next(item for item in self.index.blocks if words.start < item.end)

    @cached_property
    def _names(self) -> frozenset[str]:
        """All names that the interface uses."""
        kinds = Definition | ast.Name | ast.arg | ast.Attribute
        return frozenset(find_names(self.contract.interface, kinds))

    def _find_uncovered_runs(self, block: Block) -> Iterator[list[int]]:
        numbers = range(block.first, block.end)
        for is_covered, run in groupby(numbers, self.covered.__contains__):
            if not is_covered:
                yield list(run)

    def _is_repeated(self, run: list[int]) -> bool:
        """Return whether an uncovered passage is an empty body, or repeats a quote word for word.

        A short quote of a requirement may ask for something else at another place.
        """
        return [self._word(number) for number in run] in self._repeatable

    @cached_property
    def _repeatable(self) -> list[list[str]]:
        quotes = [(label, list_words(quote)) for label, quote in _list_quotes(self.contract)]
        long = [i for label, i in quotes if label == "background" or len(i) >= _MIN_REPEATED_WORDS]
        return [_EMPTY_BODY, *long]

    def may_ask(self, block: Block, run: Iterable[int]) -> bool:
        """Return whether an uncovered passage may ask for something; short headings name a topic.

        In a partly covered sentence the contract may say the rest in its own words. Names and
        single words are no clauses.
        """
        numbers = [number for number in run if self._word(number) not in SILENT_WORDS]
        content = {self._word(number) for number in numbers}
        content -= {*list_words(self.contract.module)}
        if block.kind == "code":
            content -= STUB_WORDS
        text = self.index.excerpt(block.first, block.end)
        is_short = len(content) <= _MAX_HEADING_WORDS or "|" in text  # of a table
        if block.kind == "heading" and is_short:
            return not OBLIGATIONS.isdisjoint(content)
        is_whole = self.covered.isdisjoint(range(block.first, block.end))
        if is_whole and content <= self._names:
            return False
        may_be_said = block.kind == "heading" or not is_whole or len(content) == 1
        said = sum(word[:_STEM_CHARS] in self._stated_stems for word in content - self._names)
        return not (may_be_said and 2 * said >= len(content - self._names))

    @cached_property
    def _stated_stems(self) -> frozenset[str]:
        """The word stems of requirements, kept behaviour and choices: tests must follow these."""
        contract = self.contract
        stated = [item.text for item in contract.requirements]
        stated += [item.text for item in contract.keep]
        stated += [t for item in contract.choices for t in (item.question, *item.answers)]
        return frozenset(word[:_STEM_CHARS] for text in stated for word in list_words(text))

    def _word(self, number: int) -> str:
        return self.index.words[number].text


def trace_contract(contract: Contract) -> Trace:
    """Find a contract's quotes in its text, and the text's examples and signatures.

    Short quotes avoid places within longer ones, if they can.
    """
    trace = Trace(contract, index_text(contract.specification))
    taken: set[int] = set()
    quotes = list(islice(_list_quotes(contract), _MAX_QUOTES))
    found: dict[int, range | None] = {}
    for at in sorted(range(len(quotes)), key=lambda at: -len(quotes[at][1])):
        found[at] = trace.index.find(quotes[at][1], taken)
        taken.update(found[at] or ())
    for at, (label, quote) in enumerate(quotes):
        if words := found[at]:
            trace.places.append(Place(label, words))
        else:
            trace.missing.append((label, quote))
    for example in contract.examples:
        for words in _find_example(trace.index, example, taken):
            trace.places.append(Place("example", words))
            taken.update(words)
    for line in list_signature_lines(contract.specification):
        if words := trace.index.find(line, taken):
            taken.update(words)
            trace.places.append(Place("signature", _add_words_before(trace, words)))
    return trace


def _add_words_before(trace: Trace, signature: range) -> range:
    """Extend a signature to the few words before it in its block, such as `Write a function`."""
    first = trace.find_block(signature).first
    before = {trace.index.words[number].text for number in range(first, signature.start)}
    is_short = signature.start - first <= _MAX_WORDS_TO_SIGNATURE
    return (
        range(first, signature.stop) if is_short and OBLIGATIONS.isdisjoint(before) else signature
    )


def _list_quotes(contract: Contract) -> Iterator[tuple[str, str]]:
    quoting: tuple[Requirement | KeptBehaviour, ...] = (*contract.requirements, *contract.keep)
    for item in quoting:
        yield from ((item.id, quote) for quote in item.quotes)
    yield from (("background", passage.quote) for passage in contract.background)
    yield from (("not covered", quote) for quote in contract.not_covered)


def _find_example(
    index: PassageIndex, example: GivenExample, taken: Container[int]
) -> Iterator[range]:
    """Yield the positions of an example's lines, each with its result where that follows soon."""
    for part in parse_doctest(example.doctest):
        for line, result in _list_stated_lines(part):
            if found := index.find(line, taken):
                yield range(found.start, _find_result_end(index, found.stop, result))


def _list_stated_lines(part: doctest.Example) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of a part of a doctest, each with the words of its result."""
    if part.want == "True\n":  # the text may have an arrow in place of the mark
        for mark in (" is ", " == "):
            call, _, value = part.source.rpartition(mark)
            yield call, list_words(value)
    error = (part.exc_msg or "").partition(":")[0]
    result = list_words(error)[-1:] or list_words(part.want)
    yield from ((line, result) for line in part.source.split("\n"))


def _find_result_end(index: PassageIndex, first: int, result: list[str]) -> int:
    """Return the number of the word after an example's result, `first` where it has none."""
    for start in range(first, first + _MAX_WORDS_TO_RESULT) if result else ():
        end = start + len(result)
        if [item.text for item in index.words[start:end]] == result:
            return end
    return first
