"""Slips of syntax that the parser itself names: a colon left out, signs that came with a paste."""

from __future__ import annotations

import ast
import re

_MOST = 50
_COMPOUND = re.compile(
    r"\s*(async|class|def|elif|else|except|finally|for|if|try|while|with|match|case)\b"
)
_BLANKS = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"


def without_slips(code: str) -> tuple[str, list[str]]:
    """The source with such slips mended, and words for them; it may still not parse."""
    words: list[str] = []
    for _ in range(_MOST):
        mended, word = _mended(code)
        if mended == code:
            break
        code = mended
        words.append(word)
    return code, list(dict.fromkeys(words))


def _mended(code: str) -> tuple[str, str]:
    try:
        ast.parse(code)
    except SyntaxError as error:
        number, column = error.lineno or 0, (error.offset or 0) - 1
        lines = code.split("\n")
        if not (1 <= number <= len(lines) and column >= 0):
            return code, ""
        line, word = _mended_line(lines[number - 1], column, error.msg or "")
        return "\n".join([*lines[: number - 1], line, *lines[number:]]), word
    except (ValueError, RecursionError, MemoryError):
        pass
    return code, ""


def _mended_line(line: str, column: int, message: str) -> tuple[str, str]:
    rest = line[column:]
    if message == "expected ':'" and _COMPOUND.match(line) and _ends(rest):
        return f"{line[:column].rstrip()}:{_gap(line, column)}{rest}", "a colon left out"
    if message.startswith("invalid non-printable character") and rest:
        blank = " " if rest[0] in _BLANKS else ""
        return f"{line[:column]}{blank}{rest[1:]}", f"a stray U+{ord(rest[0]):04X}"
    return line, ""


def _ends(rest: str) -> bool:
    return not rest.strip() or rest.lstrip().startswith("#")


def _gap(line: str, column: int) -> str:
    head = line[:column]
    return head[len(head.rstrip()) :]
