"""Changes of a text at places that its syntax tree names; the rest stays to the letter."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Splice:
    """Bytes `start` to `end` of the UTF-8 text become `text`."""

    start: int
    end: int
    text: str


class Text:
    """A Python text and where its nodes stand in it."""

    def __init__(self, code: str) -> None:
        self._bytes = code.encode("utf-8", "surrogatepass")
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """First byte and the one after the last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self._bytes[start:end].decode("utf-8", "surrogatepass")

    def replaced(self, node: ast.expr, text: str) -> Splice:
        return Splice(*self.span(node), text)

    def spliced(self, splices: Iterable[Splice]) -> str:
        """The text with all changes; they must not overlap."""
        data = self._bytes
        for item in sorted(set(splices), reverse=True):
            data = (
                data[: item.start] + item.text.encode("utf-8", "surrogatepass") + data[item.end :]
            )
        return data.decode("utf-8", "surrogatepass")
