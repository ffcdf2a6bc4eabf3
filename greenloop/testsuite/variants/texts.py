"""Changes of texts: of pieces, of words, and of the numbers in them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

_LETTERS = "aZ 0-_\n\u00e9\u0416"  # the last two are no ASCII
_NUMBER = re.compile(r"[0-9]{1,9}")
_SEPARATORS = re.compile(r"([\s,;:/]+)")
_RELATED = 0.25  # share of changes of words or numbers


def split_words(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, and what stands between each two of them."""
    parts = _SEPARATORS.split(text)
    return parts[::2], parts[1::2]


class TextMutator:
    """Changes texts by chance; `form_share` is the share of changes that leave all but the words."""

    def __init__(
        self, rng: random.Random, words: Sequence[str], change_number: Callable[[int], int]
    ) -> None:
        self._rng, self._words, self._change_number = rng, words, change_number
        self.form_share = _RELATED

    def change(self, value: str) -> str:
        """Return a text with a piece removed, repeated, moved, inserted, or in another case.

        Half of the pieces stand at the beginning or the end; a single character is repeated up to
        six times.

        Of a text of several words, or with numbers, these are changed now and then.
        """
        rng = self._rng
        if (numbers := list(_NUMBER.finditer(value))) and rng.random() < _RELATED:
            return self._replace_number(value, rng.choice(numbers))
        words, between = split_words(value)
        if between and rng.random() < self.form_share:
            return self._change_words(words, between)
        last = max(len(value) - 1, 0)
        start = rng.choice((0, last, rng.randint(0, last), rng.randint(0, last)))
        end = rng.randint(start + 1, start + 4)
        piece, rest = value[start:end], value[:start] + value[end:]
        letters = "".join(dict.fromkeys(value)) + _LETTERS
        options = [
            rest,
            value[:end] + piece + value[end:],
            piece + rest,
            rest + piece,
            value[:start] + rng.choice(letters) + value[start:],
            value[:start] + rng.choice(letters) + value[end:],
            value[:start] + piece.swapcase() + value[end:],
            value[:start] + value[start : start + 1] * rng.randint(2, 6) + value[start + 1 :],
            value[::-1],
            value * 2,
            rng.choice((value.upper(), value.lower(), value.title(), "", f" {value} ")),
        ]
        if self._words:
            word = rng.choice(self._words)
            options += [
                word,
                value[:start] + word + value[start:],
                value[:start] + word + value[end:],
            ]
        return rng.choice(options)

    def _replace_number(self, text: str, found: re.Match[str]) -> str:
        number = abs(self._change_number(int(found[0])))
        return f"{text[: found.start()]}{number}{text[found.end() :]}"

    def _change_words(self, words: list[str], between: list[str]) -> str:
        """Return the text with one word removed, repeated, moved or in place of another."""
        at, other = self._rng.randrange(len(words)), self._rng.randrange(len(words))
        match self._rng.randrange(4):
            case 0:
                words[at], words[other] = words[other], words[at]
            case 1:
                words[at] = words[other]
            case 2:
                words.insert(other, words[at])
                between.append(between[-1])
            case _:
                del words[at], between[min(at, len(between) - 1)]
        return "".join(chain.from_iterable(zip_longest(words, between, fillvalue="")))
