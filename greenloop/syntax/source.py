"""A module's text, with the positions of its syntax nodes as offsets in characters."""

import ast
import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

LINE_END = re.compile(r"\r\n|\r|\n")
_CONTEXT_LINES = 2  # lines on each side


@dataclass(frozen=True)
class TextEdit:
    """The replacement of the characters `start` to `end` of a text by `text`."""

    start: int
    end: int
    text: str

    def apply_to(self, code: str) -> str:
        """Return `code` with this edit made."""
        return code[: self.start] + self.text + code[self.end :]


def format_unified_diff(name: str, code: str, start: int, before: str, after: str) -> str:
    """Return one hunk: the whole lines `before`, at offset `start` of `code`, become `after`."""
    above = LINE_END.split(code[:start])[:-1]
    below = LINE_END.split(code[start + len(before) :])[1:]
    if below and not below[-1]:  # the text after the last line break is not a line
        below.pop()
    first, last = above[-_CONTEXT_LINES:], below[:_CONTEXT_LINES]
    old = [*first, *LINE_END.split(before), *last]
    new = [*first, *LINE_END.split(after), *last]
    body = list(difflib.unified_diff(old, new, lineterm="", n=len(old) + len(new)))[3:]
    line = len(above) - len(first) + 1
    head = f"@@ -{line},{len(old)} +{line},{len(new)} @@"
    return "\n".join([f"--- {name}", f"+++ {name}", head, *body])


_COMMENT = r"#[^\r\n]*"
_OPERATOR = re.compile(
    rf"{_COMMENT}|(?P<sign>not\b[\s\\]*in\b|is\b[\s\\]*not\b|\b(?:and|or|in|is)\b|[-+*/%@&|^<>=!]+)"
)


def split_lines(text: str) -> list[str]:
    """Return the lines as `ast` counts them, with their ends; form feeds end no line."""
    return re.findall(rf"[^\r\n]*(?:{LINE_END.pattern})|[^\r\n]+", text)


class Located(Protocol):
    """A syntax node with a position."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


class Source:
    """A text and its lines. Syntax nodes count columns in UTF-8 bytes, this class in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._line_starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and a column in UTF-8 bytes."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        content = self.text[start:end]
        if content.isascii():
            return start + column
        return start + len(content.encode()[:column].decode(errors="ignore"))

    def span(self, node: Located) -> tuple[int, int]:
        """Return the offsets of a node's first character and of the one after its last."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def span_with_decorators(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the span of a node, from the first of its decorators on."""
        start, end = self.span(node)
        decorators = getattr(node, "decorator_list", [])
        if decorators:
            start = self.text.rfind("@", 0, self.span(decorators[0])[0])
        return start, end

    def get_segment(self, node: Located) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def replace_node(self, node: Located, text: str) -> TextEdit:
        """Return the edit that puts `text` in place of a node."""
        return TextEdit(*self.span(node), text)

    def apply_edits(self, edits: Iterable[TextEdit]) -> str:
        """Return the text with all edits made; they must not overlap."""
        code = self.text
        ordered = sorted(set(edits), key=lambda item: (item.start, item.end, item.text))
        for item in reversed(ordered):
            code = item.apply_to(code)
        return code

    def get_line_number(self, offset: int) -> int:
        """Return the number (from 1) of the line that holds this offset."""
        return max(1, bisect_right(self._line_starts, offset))

    def line_start(self, line: int) -> int:
        """Return the offset of a line's first character."""
        return self._line_starts[line - 1]

    def line_end(self, line: int) -> int:
        """Return the offset of a line's end, before its line break."""
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.text)
        while end > self._line_starts[line - 1] and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def find_operator_span(self, left: Located, right: Located) -> tuple[int, int] | None:
        """Return the span of the operator between two operands; None if it is not found."""
        start, end = self.span(left)[1], self.span(right)[0]
        for match in _OPERATOR.finditer(self.text, start, end):
            if match["sign"]:
                return match.span()
        return None

    def has_valid_span(self, node: ast.expr) -> bool:
        """Return whether a node's position is right; in f-strings it was not before Python 3.12."""
        try:
            again = ast.parse(f"({self.get_segment(node)})", mode="eval").body
        except (SyntaxError, ValueError, IndexError):
            return False
        return ast.dump(again) == ast.dump(node)
