"""A module's text, with the places of its syntax tree in characters."""

from __future__ import annotations

import ast
import re
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
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """The place in the text of a line (from 1) and a column in UTF-8 bytes."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        words = self.text[start:end]
        if words.isascii():
            return start + column
        return start + len(words.encode()[:column].decode(errors="ignore"))

    def span(self, node: Located) -> tuple[int, int]:
        """Where a node starts and ends."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def of(self, node: Located) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def line(self, offset: int) -> int:
        """The number (from 1) of the line that holds this place."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low + 1

    def line_start(self, line: int) -> int:
        return self._starts[line - 1]

    def line_end(self, line: int) -> int:
        """Where a line ends, its line break left out."""
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        while end > self._starts[line - 1] and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def sign_between(self, left: Located, right: Located) -> tuple[int, int] | None:
        """Where the operator between two operands stands."""
        start, end = self.span(left)[1], self.span(right)[0]
        for match in _OPERATOR.finditer(self.text, start, end):
            if match["sign"]:
                return match.span()
        return None

    def holds(self, node: ast.expr) -> bool:
        """Whether the node's place is right: before Python 3.12 it may not be inside an f-string."""
        try:
            again = ast.parse(f"({self.of(node)})", mode="eval").body
        except (SyntaxError, ValueError, IndexError):
            return False
        return ast.dump(again) == ast.dump(node)
