"""Clauses: where a quote joins two that may ask for two things."""

from __future__ import annotations

import re
from functools import cached_property

from greenloop.specification.passages import PassageIndex, Word
from greenloop.specification.word_lists import (
    DETERMINERS,
    JOINTS,
    RETURNING,
    SILENT_WORDS,
    TAKING,
    VERBS,
)

_MIN_CLAUSE_WORDS = 2  # of content
_MAX_WORDS_TAKEN = 8  # between `takes` and `and returns`
_MAX_WORDS_BETWEEN = 4  # from `between` to its `and`
_ENDS_OF_PARTS = frozenset(",;:.([")
_SEMICOLON = re.compile(r";\s")  # of a sentence; data has none behind it
_LITERAL = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|[“„][^“”\n]{1,200}[“”]")


class JointFinder:
    """Finds the words of a text at which clauses meet."""

    def __init__(self, index: PassageIndex) -> None:
        self._index = index

    def joins_clauses(self, words: range) -> bool:
        """Return whether there is content enough on both sides of `and`, `but`, `;`."""
        silent = SILENT_WORDS | {"but", "unless"}
        content = [self._word(number) not in silent for number in words]
        before, after = 0, sum(content)
        for number, is_content in zip(words, content, strict=True):
            if min(before, after) >= _MIN_CLAUSE_WORDS and self._is_joint(number, words.stop):
                return True
            before, after = before + is_content, after - is_content
        return False

    def _is_joint(self, number: int, end: int) -> bool:
        """Return whether clauses meet at a word of a quote that ends before another.

        A text in quotes, or a list of such, has none. Neither has a list of single words, a pair of
        things (`a name and a number`), nor what a function takes and what it returns for that.
        """
        before, word, *after = self._index.words[number - 1 : number + 2]
        if self._is_quoted(word) or all(map(self._is_quoted, (before, *after))):
            return False
        if _SEMICOLON.search(self._gap(number)):
            return True
        if word.text not in JOINTS:
            return False
        is_listed = self._ends_part(number - 1) or not after or self._ends_part(number + 2)
        is_pair = self._word(number) in ("and", "und") and self._joins_things(number, end)
        return not (is_listed or is_pair or self._takes_and_returns(number))

    def _joins_things(self, number: int, end: int) -> bool:
        """Return whether a thing follows `and`, and up to the next comma or end no verb of its own."""
        before = [self._word(at) for at in range(max(number - _MAX_WORDS_BETWEEN, 0), number)]
        if not {"between", "zwischen"}.isdisjoint(before):
            return True
        following = self._word(number + 1)
        if following not in DETERMINERS and following not in before[-2:-1]:
            return False
        stop = next((at for at in range(number + 2, end) if self._ends_part(at)), end)
        return VERBS.isdisjoint(self._word(at) for at in range(number + 2, stop))

    def _ends_part(self, number: int) -> bool:
        """Return whether a comma, a bracket or an end stands between a word and the one before."""
        if number >= len(self._index.words):
            return True
        gap = self._gap(number)
        return "\n\n" in gap or not _ENDS_OF_PARTS.isdisjoint(gap)

    def _gap(self, number: int) -> str:
        """Return the text between a word and the one before."""
        before, word = self._index.words[number - 1 : number + 1]
        return self._index.text[before.end : word.start]

    def _takes_and_returns(self, number: int) -> bool:
        first = max(number - _MAX_WORDS_TAKEN, 0)
        taken = {self._word(at) for at in range(first, number)}
        is_returned = self._word(number) == "and" and self._word(number + 1) in RETURNING
        return is_returned and not TAKING.isdisjoint(taken)

    @cached_property
    def _literals(self) -> list[range]:
        """Where the text has code and quoted texts."""
        return [range(*found.span()) for found in _LITERAL.finditer(self._index.text)]

    def _is_quoted(self, word: Word) -> bool:
        return any(word.start in literal for literal in self._literals)

    def _word(self, number: int) -> str:
        return self._index.words[number].text
