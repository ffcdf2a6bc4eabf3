"""Is this source the whole of what was asked for? Elisions, missing names, the wrong kind of file."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

_ELISIONS = re.compile(
    r"""^\#[\s.…\-(<\[]*(
        (the\s+)?rest\s+of\s+(the\s+|your\s+|this\s+)?(original\s+|existing\s+)?
            (code|implementation|module|function|class|file|methods?|tests?)\b
      | (the\s+)?(rest|remaining\s+\w+|other\s+\w+)\s+(is|are|stays?|remains?)\s+(unchanged|the\s+same|as\s+before)
      | (previous|existing|original|other|remaining)\s+(code|methods?|functions?|tests?|implementation)
            (\s+(here|unchanged|remains?|stays?|goes\s+here|omitted)\b.*)?[\s.…)\]>]*$
      | (same|unchanged)(\s+as\s+(above|before|the\s+original))?[\s.…)\]>]*$
      | (your|the|actual)?\s*(code|implementation|logic)\s+(goes\s+)?here
      | (code|implementation|\w+)?\s*omitted\s+for\s+brevity
      | (continue|continues|and\s+so\s+on|etc)[\s.…)\]>]*$
      | [.…]+\s*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def elision(source: str) -> str | None:
    """The comment that stands in for code left out, or None.

    Only a comment that is alone on its line can stand in for code.
    """
    for line, comment in _lone_comments(source):
        if _ELISIONS.match(comment) and comment.strip("# ."):
            return f"line {line}: {comment}"
        if re.fullmatch(r"#\s*(\.{3,}|…)\s*", comment):
            return f"line {line}: {comment}"
    return None


def _lone_comments(source: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return


def top_level_names(source: str) -> tuple[str, ...]:
    """Names that a module (or stub) defines at its top level, in order; () where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(name for node in tree.body for name in _defined(node)))


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (item.id for item in ast.walk(target) if isinstance(item, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, (ast.If, ast.Try)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _defined(child)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((item.asname or item.name).split(".")[0] for item in node.names)


def public_names(interface: str) -> tuple[str, ...]:
    """The names that a module must define to keep an interface: its functions, classes, constants."""
    try:
        tree = ast.parse(interface)
    except (SyntaxError, ValueError):
        return ()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    found = (name for node in tree.body if isinstance(node, kinds) for name in _defined(node))
    return tuple(dict.fromkeys(name for name in found if not name.startswith("__")))


def unwritten(source: str) -> tuple[str, ...]:
    """Functions whose whole body is `...` or `raise NotImplementedError`: left unwritten.

    Overloads, protocols and abstract methods have such bodies by right.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    return tuple(_unwritten(tree.body, abstract=False))


def _unwritten(body: list[ast.stmt], *, abstract: bool) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = " ".join(
                ast.unparse(base) for base in [*node.bases, *(k.value for k in node.keywords)]
            )
            yield from _unwritten(node.body, abstract=bool(re.search(r"Protocol|ABC", bases)))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = " ".join(ast.unparse(item) for item in node.decorator_list)
            if not abstract and not re.search(r"overload|abstract", marks) and _empty(node):
                yield node.name


def _empty(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if len(body) != 1:
        return False
    only = body[0]
    if isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant):
        return only.value.value is Ellipsis
    return isinstance(only, ast.Raise) and "NotImplementedError" in ast.dump(only)


def is_test_file(source: str) -> bool:
    """Whether a source reads like a pytest file: it defines tests and nothing that is not one."""
    names = top_level_names(source)
    return any(name.startswith(("test_", "Test")) for name in names) and "def test" in source
