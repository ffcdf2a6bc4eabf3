"""What is left of Python 2 in a script: syntax, names, methods and modules that are gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TypeGuard

from greenloop.autofix.refactoring import HAS_KEY, IMPORTS, PRINTS, SYNTAX, refactored
from greenloop.autofix.ruff import lint_code
from greenloop.syntax.parse import parse_or_none

_NAMES = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "unichr": "chr",
    "long": "int",
}
_METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys"}
# Modules whose names Python 3 has no use for; the others of the kind may be a file of the person's.
_MODULES = frozenset(
    (
        "urllib2 urlparse httplib cookielib cPickle cStringIO StringIO ConfigParser HTMLParser "
        "Tkinter tkMessageBox tkFileDialog BaseHTTPServer SimpleHTTPServer SocketServer xmlrpclib "
        "__builtin__ copy_reg htmlentitydefs"
    ).split()
)
_GENERIC = frozenset({"Queue", "Cookie", "commands"})
_MOST_LINES = 300


def with_python3_syntax(code: str) -> tuple[str, list[str]]:
    """A source that does not parse, with its Python 2 syntax rewritten, and words for what was.

    As it was where nothing was found. The result may still not parse for another reason.
    """
    new, words = refactored(code, SYNTAX)
    if not words:  # prints of both kinds in one file: no grammar has both
        new, words = _line_by_line(code)
    return new, words


def without_python2_names(code: str, *, is_python2: bool) -> tuple[str, list[str]]:
    """A source that parses, without names, methods and modules that Python 3 does not have.

    Names go only where nothing defines them. Methods, and modules whose names are usual words, only
    where it is known to be Python 2: told by the caller, or by such a name.
    """
    code, words = _redirected(code)
    code, renamed = _renamed(code, [name for name in lint_code(code).undefined if name in _NAMES])
    words += [f"{name} -> {_NAMES[name]}" for name in renamed]
    if is_python2 or renamed or words:
        code, methods = _methods_renamed(code)
        words += methods
        if ".has_key(" in code:
            code, more = _if_parsed(code, HAS_KEY)
            words += more
    code, modules = _modules_renamed(code, _MODULES | (_GENERIC if is_python2 else frozenset()))
    return code, words + modules


def divided_lines(code: str) -> str:
    """`lines 3, 8`, where `/` stands and may mean something else now; "" where it does not."""
    tree = parse_or_none(code)
    if tree is None or "import division" in code:
        return ""
    found = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div)
    }
    return f"lines {', '.join(map(str, sorted(found)))}" if found else ""


def _line_by_line(code: str) -> tuple[str, list[str]]:
    """Each line that Python 3 says is a print or exec statement, on its own."""
    lines, words = code.split("\n"), set[str]()
    for _ in range(_MOST_LINES):
        error = _error("\n".join(lines))
        if error is None or "Missing parentheses" not in (error.msg or "") or not error.lineno:
            break
        number = error.lineno - 1
        lines[number], found = _line(lines[number], PRINTS | {"exec": SYNTAX["exec"]})
        if not found:
            break
        words.update(found)
    return "\n".join(lines), sorted(words)


def _line(line: str, fixers: dict[str, str]) -> tuple[str, list[str]]:
    """A line on its own, so that the rest of the source need not be read the same way."""
    indent = line[: len(line) - len(line.lstrip())]
    new, words = refactored(f"{line.strip()}\n", fixers)
    return indent + new.rstrip("\n"), words


def _error(code: str) -> SyntaxError | None:
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _redirected(code: str) -> tuple[str, list[str]]:
    """`print >>file, …`: Python 3 reads it as a shift, and fails on it when it comes there."""
    tree = parse_or_none(code)
    places = [n.lineno for n in ast.walk(tree) if _is_shifted_print(n)] if tree else []
    if not places:
        return code, []
    new, words = _if_parsed(code, PRINTS)
    if words:
        return new, words
    lines = code.split("\n")
    for number in places:
        lines[number - 1], found = _line(lines[number - 1], PRINTS)
        words = words or found
    new = "\n".join(lines)
    return (new, words) if parse_or_none(new) is not None else (code, [])


def _is_shifted_print(node: ast.AST) -> TypeGuard[ast.Expr]:
    if not isinstance(node, ast.Expr):
        return False
    value = node.value.elts[0] if isinstance(node.value, ast.Tuple) else node.value
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.RShift)
        and isinstance(value.left, ast.Name)
        and value.left.id == "print"
    )


def _renamed(code: str, names: list[str]) -> tuple[str, list[str]]:
    """Uses of names that nothing in the file binds, in any scope."""
    tree = parse_or_none(code)
    if tree is None or not names:
        return code, []
    sure = set(names) - _bound(tree)
    places = [
        (node.lineno, node.col_offset, node.id, _NAMES[node.id])
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in sure
    ]
    return _replaced(code, places), sorted({old for _, _, old, _ in places})


def _bound(tree: ast.Module) -> set[str]:
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return bound | {
        item.asname or item.name
        for n in ast.walk(tree)
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for item in n.names
    }


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _methods_renamed(code: str) -> tuple[str, list[str]]:
    tree = parse_or_none(code)
    if tree is None:
        return code, []
    places = [
        (node.end_lineno or 0, (node.end_col_offset or 0) - len(node.attr), node.attr, new)
        for node, new in _old_methods(tree)
    ]
    return _replaced(code, places), sorted({f".{old}() -> .{new}()" for _, _, old, new in places})


def _old_methods(tree: ast.Module) -> Iterator[tuple[ast.Attribute, str]]:
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            new = _METHODS.get(node.func.attr)
            if new and node.func.attr not in own:
                yield node.func, new


def _modules_renamed(code: str, modules: Collection[str]) -> tuple[str, list[str]]:
    """Not where a failing import is looked out for: then both Pythons are meant."""
    tree = parse_or_none(code)
    if tree is None or re.search(r"\b(ImportError|ModuleNotFoundError)\b", code):
        return code, []
    imported = {item for node in ast.walk(tree) for item in _imported(node)}
    return _if_parsed(code, IMPORTS) if imported & set(modules) else (code, [])


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [item.name for item in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def _if_parsed(code: str, fixers: dict[str, str]) -> tuple[str, list[str]]:
    new, words = refactored(code, fixers)
    return (new, words) if parse_or_none(new) is not None else (code, [])


def _replaced(code: str, places: list[tuple[int, int, str, str]]) -> str:
    """Each place is a line (1-based), a column in UTF-8 bytes, what stands there, and what is to."""
    lines = [line.encode() for line in code.split("\n")]
    for number, column, old, new in sorted(places, reverse=True):
        line = lines[number - 1]
        if line[column : column + len(old)] == old.encode():
            lines[number - 1] = line[:column] + new.encode() + line[column + len(old) :]
    return b"\n".join(lines).decode()
