"""Repair of small syntax errors that the parser names: a missing colon, pasted characters."""

from __future__ import annotations

import ast
import re

_MAX_FIXES = 50
_COMPOUND_STATEMENT = re.compile(
    r"\s*(async|class|def|elif|else|except|finally|for|if|try|while|with|match|case)\b"
)
_UNICODE_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"


def fix_syntax_errors(code: str) -> tuple[str, list[str]]:
    """Return the repaired source, which may still not parse, and a description of each repair."""
    applied: list[str] = []
    for _ in range(_MAX_FIXES):
        fixed, description = _fix_first_error(code)
        if fixed == code:
            break
        code = fixed
        applied.append(description)
    return code, list(dict.fromkeys(applied))


def _fix_first_error(code: str) -> tuple[str, str]:
    try:
        ast.parse(code)
    except SyntaxError as error:
        number, column = error.lineno or 0, (error.offset or 0) - 1
        lines = code.split("\n")
        if not (1 <= number <= len(lines) and column >= 0):
            return code, ""
        line, description = _fix_line(lines[number - 1], column, error.msg or "")
        return "\n".join([*lines[: number - 1], line, *lines[number:]]), description
    except (ValueError, RecursionError, MemoryError):
        pass
    return code, ""


def _fix_line(line: str, column: int, message: str) -> tuple[str, str]:
    head, rest = line[:column], line[column:]
    is_end = not rest.strip() or rest.lstrip().startswith("#")
    if message == "expected ':'" and _COMPOUND_STATEMENT.match(line) and is_end:
        bare = head.rstrip()
        return f"{bare}:{head[len(bare):]}{rest}", "a missing colon"
    if message.startswith("invalid non-printable character") and rest:
        blank = " " if rest[0] in _UNICODE_SPACES else ""
        return f"{head}{blank}{rest[1:]}", f"an invisible character U+{ord(rest[0]):04X}"
    return line, ""
