"""Repair of small syntax errors: a missing colon, pasted characters, mixed indentation."""

import ast
import re
from collections.abc import Callable
from functools import partial

from greenloop.syntax.parse import parse_or_empty, parse_or_none

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


def fix_mixed_indentation(code: str) -> str:
    """Return a source that does not parse with one kind of indentation, if it parses then.

    A tab is taken as 8 or 4 columns, whichever parses; the source is returned unchanged where both
    parse to different programs. As few lines as possible change, none of them within a string.
    """
    by_width = {width: _reindent(code, partial(str.expandtabs, tabsize=width)) for width in (8, 4)}
    programs = {
        width: program for width, text in by_width.items() if (program := _dump_program(text))
    }
    if len(set(programs.values())) != 1:
        return code
    width = next(iter(programs))
    tabbed = _reindent(code, partial(_indent_with_tabs, width=width))
    same = _dump_program(tabbed) == programs[width]
    fewer = _count_changed_lines(code, tabbed) < _count_changed_lines(code, by_width[width])
    return tabbed if same and fewer else by_width[width]


def _dump_program(code: str) -> str:
    """Return a source's syntax tree as text, '' where it does not parse."""
    tree = parse_or_none(code)
    return ast.dump(tree) if tree else ""


def _indent_with_tabs(indent: str, width: int) -> str:
    tabs, rest = divmod(len(indent.expandtabs(width)), width)
    return "\t" * tabs + " " * rest


def _reindent(code: str, convert: Callable[[str], str]) -> str:
    old = code.split("\n")
    new = [
        convert(line[: len(line) - len(bare)]) + bare if (bare := line.lstrip(" \t")) else line
        for line in old
    ]
    for node in ast.walk(parse_or_empty("\n".join(new))):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            for n in range(node.lineno, node.end_lineno or 0):
                new[n] = old[n]
    return "\n".join(new)


def _count_changed_lines(old: str, new: str) -> int:
    pairs = zip(old.split("\n"), new.split("\n"), strict=True)
    return sum(one != other for one, other in pairs)
