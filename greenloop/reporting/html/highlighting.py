"""Tokens of Python code, for its colours."""

from __future__ import annotations

from collections.abc import Sequence

Token = tuple[str, str]  # the CSS class, '' for plain text, and the text

# By the beginning of the name that Pygments has for a kind of token.
_CLASSES = {
    "Token.Keyword": "kw",
    "Token.Operator.Word": "kw",
    "Token.Literal.String": "st",
    "Token.Literal.Number": "nu",
    "Token.Comment": "co",
    "Token.Name.Function": "na",
    "Token.Name.Class": "na",
    "Token.Name.Decorator": "kw",
}


def highlight_lines(lines: Sequence[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line; () where the lines cannot be told apart in the tokens."""
    from pygments.lexers.python import PythonLexer

    rows: list[list[Token]] = [[]]
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens("\n".join(lines)):
        name = next((css for start, css in _CLASSES.items() if str(kind).startswith(start)), "")
        first, *rest = text.split("\n")
        rows[-1].append((name, first))
        rows.extend([(name, part)] for part in rest)
    found = [tuple((name, text) for name, text in row if text) for row in rows]
    is_same = ["".join(text for _, text in row) for row in found] == list(lines)
    return found if is_same else [()] * len(lines)
