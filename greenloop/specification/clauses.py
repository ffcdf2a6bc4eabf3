"""Clauses: where a quote joins two, and whether a contract's own words take one up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from greenloop.records import Contract
from greenloop.specification.passages import PassageIndex, list_words
from greenloop.specification.word_lists import JOINTS, OBLIGATIONS, SILENT_WORDS

_MIN_CLAUSE_WORDS = 2  # of content
_MIN_STATED = 0.25  # of these, in the contract's own words
_STEM_CHARS = 5
_SEMICOLON = re.compile(r";\s")  # of a sentence; data has none behind it


def split_clauses(index: PassageIndex, words: range) -> Iterator[range]:
    """Yield the clauses of a quote that `and`, `but`, `unless` or `;` joins; nothing for one alone."""
    places = range(words.start + 1, words.stop)
    cuts = [number for number in places if _is_joint(index, number)]
    starts = [words.start, *cuts]
    if cuts:
        yield from map(range, starts, [*cuts, words.stop])


def _is_joint(index: PassageIndex, number: int) -> bool:
    before, word = index.words[number - 1 : number + 1]
    return word.text in JOINTS or bool(_SEMICOLON.search(index.text[before.end : word.start]))


def list_own_stems(contract: Contract) -> frozenset[str]:
    """Return the stems of the words that a contract has of its own, outside of quotes."""
    texts = (contract.summary, contract.interface, *contract.assumptions)
    return list_stated_stems(contract).union(*map(_list_stems, texts))


def list_stated_stems(contract: Contract) -> frozenset[str]:
    """Return the stems of the words of what a contract states: tests have to follow these."""
    stated = [item.text for item in contract.requirements]
    stated += [item.text for item in contract.keep]
    asked = (text for item in contract.choices for text in (item.question, *item.answers))
    return frozenset(stem for text in (*stated, *asked) for stem in _list_stems(text))


def _list_stems(text: str) -> Iterator[str]:
    return map(_stem, list_words(text))


def is_neglected(index: PassageIndex, clause: range, own_stems: frozenset[str]) -> bool:
    """Return whether a clause obliges or forbids something, and a contract's own words hardly
    mention it.

    They may say it in other words, so a few of the clause's own suffice.
    """
    words = {index.words[number].text for number in clause} - JOINTS
    stems = set(map(_stem, words - SILENT_WORDS - OBLIGATIONS))
    is_short = len(stems) < _MIN_CLAUSE_WORDS
    if is_short or OBLIGATIONS.isdisjoint(words):
        return False
    return len(stems & own_stems) <= _MIN_STATED * len(stems)


def says_most(content: Collection[str], stems: frozenset[str]) -> bool:
    """Return whether at least half of the words of a passage have these stems."""
    said = sum(_stem(word) in stems for word in content)
    return 2 * said >= len(content)


def _stem(word: str) -> str:
    return word[:_STEM_CHARS]
