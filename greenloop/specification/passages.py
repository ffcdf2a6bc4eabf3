"""Passages of a text: its words, and the sentences, items, rows and code blocks that hold them.

Words are compared without case, Markdown marks, quotation marks and other punctuation; numbers
keep their sign, and comparison operators count as words.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # written without spaces: each character is a word
_ITEM = r"[ \t>]*(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-z]\))[ \t]"
_NEXT_BLOCK = rf"(?:{_ITEM}|[ \t]*(?:>>>[ ]|\||```|~~~)|[ \t]{{0,3}}\#{{1,6}}[ \t])"
# The alternatives begin differently, so that matching is linear in the text.
_BLOCK = re.compile(
    rf"""
    ^(?:(?P<code>[ \t]*(?P<fence>`{{3,}}|~{{3,}})(?![`~]).*\n
            (?:.*\n)*?(?:[ \t]*(?P=fence)[`~]*[ \t]*$|.*\Z)
        |[ \t]*>>>[ ].*(?:\n[ \t]*\S.*)*)
    |(?P<heading>[ \t]{{0,3}}\#{{1,6}}[ \t].*$|[ \t]*\*\*[^*\n]{{1,99}}\*\*:?[ \t]*$
        |[ \t]*\|.*\n(?=[ \t]*\|[ \t:|-]*$)|[ \t]*\S.*\n[ \t]*(?:={{3,}}|-{{3,}})[ \t]*$)
    |(?P<row>[ \t]*\|.*$)
    |(?P<item>{_ITEM}.*(?:\n(?!{_NEXT_BLOCK})[ \t]*\S.*)*)
    |(?P<sentence>[ \t]*\S.*(?:\n(?!{_NEXT_BLOCK})[ \t]*\S.*)*))
    """,
    re.MULTILINE | re.VERBOSE,
)
# Bounded repetitions keep matching linear on long, adversarial texts.
_WORD = re.compile(
    rf"[{_CJK}]"
    r"|(?<![\w)\]])[-−]?\d{1,99}(?:[.,]\d{1,99}){0,3}(?!\w)"
    rf"|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*"
    r"|->|=>|[<>=!]=|[<>=+%≤≥≠→±×÷$€£]"
)
# Text that is not a word: fences, import lines, marks of lists and citations, targets of links,
# tags, and escaped line breaks of quotes.
_MARKS = re.compile(
    r"^[ \t]*(?:```|~~~).*$"
    r"|^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+\w+(?:[ \t]*,[ \t]*\w+)*[ \t]*$"
    r"|^[ \t]*(?:>[ \t]*)*(?:(?:[-*+•–]|\(?\d{1,2}[.)]|\(?[a-z]\))[ \t]+)?"
    r"|(?<=\])\([^)\s]{1,999}\)|^[ \t]*\[[^\]\n]{1,99}\]:[ \t]*\S{1,999}[ \t]*$|</?br[ \t]*/?>|\\n",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"(?<!\.\.)[.!?][\"'”’“»)\]*_`]{0,3}\s+(?=[^\sa-z])|[。！？]")
_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "z.B.", "z. B.", "bzw.", "ca.")
_MAX_LABEL_WORDS = 4
_OPENING, _CLOSING = "\"'“‘«`*_([{", "\"'”’»`*_)]}"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, and its place in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """The words `first` to `end` (exclusive) of a sentence, item, row, code block or heading."""

    kind: str
    first: int
    end: int


@dataclass
class PassageIndex:
    """The words and blocks of a text, in which quotes are found. Build it with `index_text`."""

    text: str
    words: tuple[Word, ...]
    blocks: tuple[Block, ...]

    def find(self, quote: str, taken: Container[int] = ()) -> range | None:
        """Return the numbers of a quote's words; None where the text has no such sequence.

        A place whose words are all `taken` is skipped, unless the quote has no other.
        """
        words, at, first = list_words(quote), -1, None
        wanted = f" {' '.join(words)} "
        while words and (at := self._searched.find(wanted, at + 1)) >= 0:
            begin = bisect_left(self._offsets, at)
            place = range(begin, begin + len(words))
            if not all(number in taken for number in place):
                return place
            first = first or place
        return first

    def excerpt(self, first: int, end: int) -> str:
        """Return the text from one word to before another, in one line, with the marks around it."""
        begin, stop = self.words[first].start, self.words[end - 1].end
        before, behind = self.text[:begin], self.text[stop:]
        begin = len(before.rstrip(_OPENING))
        stop += len(behind) - len(behind.lstrip(_CLOSING))
        return " ".join(self.text[begin:stop].split())

    def list_samples(self, quoted: Container[int], code: Container[int]) -> Iterator[int]:
        """Yield the word numbers of samples that are quoted in part, or whose lead is.

        A sample is a block that is fenced or indented, without words of `code`; its lead is the
        block before it, if that ends in a colon.
        """
        for lead, block in pairwise(self.blocks):
            words = range(block.first, block.end)
            between = self.text[self.words[lead.end - 1].end : self.words[block.first].start]
            is_lead = ":" in between.partition("\n")[0]
            found = (*words, *(range(lead.first, lead.end) if is_lead else ()))
            if self._is_set_apart(block) and any(number in quoted for number in found):
                yield from words if not any(number in code for number in words) else ()

    def _is_set_apart(self, block: Block) -> bool:
        begin = self.text.rfind("\n", 0, self.words[block.first].start) + 1
        lines = self.text[begin : self.words[block.end - 1].end].split("\n")
        return block.kind == "code" or all(line.startswith(("    ", "\t")) for line in lines)

    @cached_property
    def _searched(self) -> str:
        """The words between spaces."""
        return f" {' '.join(word.text for word in self.words)} "

    @cached_property
    def _offsets(self) -> list[int]:
        """The offset of the space before each word in `_searched`."""
        return [*accumulate((len(word.text) + 1 for word in self.words), initial=0)]


def index_text(text: str) -> PassageIndex:
    """Split a text into words and blocks."""
    text = _normalize(text)
    words = tuple(_split_words(text))
    starts = [item.start for item in words]
    blocks = []
    for kind, begin, end in _split_blocks(text):
        first, last = bisect_left(starts, begin), bisect_left(starts, end)
        is_label = last - first <= _MAX_LABEL_WORDS and text[begin:end].rstrip().endswith(":")
        if last > first:
            blocks.append(Block("heading" if is_label else kind, first, last))
    return PassageIndex(text, words, tuple(blocks))


def split_passages(text: str) -> tuple[str, ...]:
    """Return the sentences, items, rows and code blocks of a text, each in one line."""
    index = index_text(text)
    return tuple(index.excerpt(block.first, block.end) for block in index.blocks)


def list_words(text: str) -> list[str]:
    """Return the words of a passage as they are compared."""
    return [item.text for item in _split_words(_normalize(text))]


def _normalize(text: str) -> str:
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def _split_words(text: str) -> Iterator[Word]:
    plain = _MARKS.sub(lambda found: " " * len(found[0]), text)
    for found in _WORD.finditer(plain):
        word = found[0].strip("_").replace("’", "'").replace("−", "-").casefold()
        if word:
            yield Word(word, found.start(), found.end())


def _split_blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, begin and end of each block, in characters."""
    for block in _BLOCK.finditer(text):
        kind, begin, end = block.lastgroup or "", block.start(), block.end()
        for found in _SENTENCE_END.finditer(text, begin, end) if kind == "sentence" else ():
            if not text[max(begin, found.start() - 8) : found.start() + 1].endswith(_ABBREVIATIONS):
                yield kind, begin, found.end()
                begin = found.end()
        yield kind, begin, end
