"""Tokens of Python code, for its colours."""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Iterator, Sequence

Token = tuple[str, str]  # the CSS class, '' for plain text, and the text
_Span = tuple[int, int, str]  # first column, the column behind the last, and the CSS class

# Kinds of tokens that have a colour whatever stands before them; f-strings have parts since 3.12.
_CLASSES = {"STRING": "st", "NUMBER": "nu", "COMMENT": "co"}
_CLASSES |= dict.fromkeys(("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"), "st")
_DEFINITIONS = ("def", "class")
_LINE_STARTS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def highlight_lines(lines: Sequence[str]) -> list[tuple[Token, ...]]:
    """Return the tokens of each line; () where the lines are not Python."""
    spans: list[list[_Span]] = [[] for _ in lines]
    try:
        for css, token in _classify(lines):
            _add_spans(spans, lines, css, token)
    except (tokenize.TokenError, SyntaxError):
        return [()] * len(lines)
    return [tuple(_split_line(line, found)) for line, found in zip(lines, spans, strict=True)]


def _classify(lines: Sequence[str]) -> Iterator[tuple[str, tokenize.TokenInfo]]:
    """Yield the tokens that have a colour, with their classes."""
    source = iter([f"{line}\n" for line in lines])
    last, is_line_start, is_decorator = "", True, False
    for token in tokenize.generate_tokens(lambda: next(source, "")):
        begins = is_line_start and token.string == "@"
        is_decorator = begins or (is_decorator and (token.string == "." or last in ("@", ".")))
        css = _CLASSES.get(tokenize.tok_name[token.type], "")
        if is_decorator or keyword.iskeyword(token.string):
            css = "kw"
        elif last in _DEFINITIONS:
            css = "na"
        if css:
            yield css, token
        last, is_line_start = token.string, token.type in _LINE_STARTS


def _add_spans(
    spans: list[list[_Span]], lines: Sequence[str], css: str, token: tokenize.TokenInfo
) -> None:
    """Add what the token covers of each of its lines."""
    (first, start), (last, end) = token.start, token.end
    for row in range(first, min(last, len(lines)) + 1):
        begins = start if row == first else 0
        spans[row - 1].append((begins, end if row == last else len(lines[row - 1]), css))


def _split_line(line: str, spans: Sequence[_Span]) -> Iterator[Token]:
    """Yield the parts of a line, with and without a colour; together they are the line."""
    done = 0
    for start, end, css in [*spans, (len(line), len(line), "")]:
        if done < start:
            yield "", line[done:start]
        if start < end:
            yield css, line[start:end]
        done = end
