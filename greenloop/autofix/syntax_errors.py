"""Slips of syntax that the parser itself names: a colon left out, signs that came with a paste."""

from __future__ import annotations

import ast
import re

_MAX_FIXES = 50
_COMPOUND_STATEMENT = re.compile(
    r"\s*(async|class|def|elif|else|except|finally|for|if|try|while|with|match|case)\b"
)
_UNICODE_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"


def fix_syntax_errors(code: str) -> tuple[str, list[str]]:
    """The source with such slips mended, and words for them; it may still not parse."""
    words: list[str] = []
    for _ in range(_MAX_FIXES):
        mended, word = _fix_first_error(code)
        if mended == code:
            break
        code = mended
        words.append(word)
    return code, list(dict.fromkeys(words))


def _fix_first_error(code: str) -> tuple[str, str]:
    try:
        ast.parse(code)
    except SyntaxError as error:
        number, column = error.lineno or 0, (error.offset or 0) - 1
        lines = code.split("\n")
        if not (1 <= number <= len(lines) and column >= 0):
            return code, ""
        line, word = _fix_line(lines[number - 1], column, error.msg or "")
        return "\n".join([*lines[: number - 1], line, *lines[number:]]), word
    except (ValueError, RecursionError, MemoryError):
        pass
    return code, ""


def _fix_line(line: str, column: int, message: str) -> tuple[str, str]:
    rest = line[column:]
    if message == "expected ':'" and _COMPOUND_STATEMENT.match(line) and _is_end_of_code(rest):
        return (
            f"{line[:column].rstrip()}:{_trailing_whitespace(line, column)}{rest}",
            "a colon left out",
        )
    if message.startswith("invalid non-printable character") and rest:
        blank = " " if rest[0] in _UNICODE_SPACES else ""
        return f"{line[:column]}{blank}{rest[1:]}", f"a stray U+{ord(rest[0]):04X}"
    return line, ""


def _is_end_of_code(rest: str) -> bool:
    return not rest.strip() or rest.lstrip().startswith("#")


def _trailing_whitespace(line: str, column: int) -> str:
    head = line[:column]
    return head[len(head.rstrip()) :]
