"""A module's text, with the places of its syntax tree in characters."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = r"#[^\r\n]*"
_OPERATOR = re.compile(
    rf"{_COMMENT}|(?P<sign>not\b[\s\\]*in\b|is\b[\s\\]*not\b|\b(?:and|or|in|is)\b|[-+*/%@&|^<>=!]+)"
)


class Located(Protocol):
    """What has a place in the source."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Source:
    """Text and its lines. The tree counts columns in bytes, this counts in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """The place in the text of a line (from 1) and a column in UTF-8 bytes."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        words = self.text[start:end]
        if words.isascii():
            return start + column
        return start + len(words.encode()[:column].decode(errors="ignore"))

    def span(self, node: Located) -> tuple[int, int]:
        """Where a node starts and ends."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def get_segment(self, node: Located) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def get_line_number(self, offset: int) -> int:
        """The number (from 1) of the line that holds this place."""
        low, high = 0, len(self._line_starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._line_starts[middle] <= offset else (low, middle)
        return low + 1

    def line_start(self, line: int) -> int:
        return self._line_starts[line - 1]

    def line_end(self, line: int) -> int:
        """Where a line ends, its line break left out."""
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        while end > self._line_starts[line - 1] and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def find_operator_span(self, left: Located, right: Located) -> tuple[int, int] | None:
        """Where the operator between two operands stands."""
        start, end = self.span(left)[1], self.span(right)[0]
        for match in _OPERATOR.finditer(self.text, start, end):
            if match["sign"]:
                return match.span()
        return None

    def has_valid_span(self, node: ast.expr) -> bool:
        """Whether the node's place is right: before Python 3.12 it may not be inside an f-string."""
        try:
            again = ast.parse(f"({self.get_segment(node)})", mode="eval").body
        except (SyntaxError, ValueError, IndexError):
            return False
        return ast.dump(again) == ast.dump(node)


_CONTEXT_LINES = 2  # lines on each side


def format_unified_diff(name: str, code: str, start: int, before: str, after: str) -> str:
    """One hunk: the whole lines `before`, which begin at offset `start` of `code`, become `after`."""
    above = _LINE_END.split(code[:start])[:-1]
    below = _LINE_END.split(code[start + len(before) :])[1:]
    if below and not below[-1]:  # what follows the last line break is no line
        below.pop()
    first, last = above[-_CONTEXT_LINES:], below[:_CONTEXT_LINES]
    old = [*first, *_LINE_END.split(before), *last]
    new = [*first, *_LINE_END.split(after), *last]
    body = list(difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new)))[3:]
    line = len(above) - len(first) + 1
    head = f"@@ -{line},{len(old)} +{line},{len(new)} @@"
    return "\n".join([f"--- {name}", f"+++ {name}", head, *body])


@dataclass(frozen=True, order=True)
class ByteEdit:
    """Bytes `start` to `end` of the UTF-8 text become `text`."""

    start: int
    end: int
    text: str


class EncodedSource:
    """A Python text and where its nodes stand in it."""

    def __init__(self, code: str) -> None:
        self._bytes = code.encode("utf-8", "surrogatepass")
        self._line_starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """First byte and the one after the last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._line_starts[node.lineno - 1] + node.col_offset
        return start, self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def get_segment(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self._bytes[start:end].decode("utf-8", "surrogatepass")

    def replace_node(self, node: ast.expr, text: str) -> ByteEdit:
        return ByteEdit(*self.span(node), text)

    def apply_edits(self, edits: Iterable[ByteEdit]) -> str:
        """The text with all changes; they must not overlap."""
        data = self._bytes
        for item in sorted(set(edits), reverse=True):
            data = (
                data[: item.start] + item.text.encode("utf-8", "surrogatepass") + data[item.end :]
            )
        return data.decode("utf-8", "surrogatepass")
