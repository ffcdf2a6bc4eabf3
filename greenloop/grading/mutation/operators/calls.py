"""Operators on calls and what goes into them: arguments, methods, slices, defaults, decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import Change
from greenloop.syntax.nodes import Place
from greenloop.syntax.source import Source

_PAIRS = (
    ("lower", "upper"),
    ("lstrip", "rstrip"),
    ("find", "rfind"),
    ("ljust", "rjust"),
    ("removeprefix", "removesuffix"),
    ("partition", "rpartition"),
    ("split", "rsplit"),
    ("startswith", "endswith"),
    ("union", "intersection"),
    ("issubset", "issuperset"),
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
)
_ONE_WAY = (("popleft", "pop"), ("appendleft", "append"), ("rindex", "index"))
_UNWRAPPED = frozenset(
    {"abs", "sorted", "reversed", "list", "tuple", "set", "int", "float", "str", "round"}
)
_UNWRAPPED_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "copy", "casefold", "title", "capitalize"}
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _counterparts() -> dict[str, str]:
    """Names of methods and functions, each with another of the same kind."""
    return {**dict(_PAIRS), **{second: first for first, second in _PAIRS}, **dict(_ONE_WAY)}


def called(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """Another function of the same kind: `lower` for `upper`, `min` for `max`."""
    if not isinstance(node, ast.Call):
        return
    end = source.span(node.func)[1]
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    other = _counterparts().get(name)
    if other and source.text[end - len(name) : end] == name:
        yield Change("other-call", end - len(name), end, other)


def argument(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """An argument becomes None; a keyword argument is dropped."""
    if not isinstance(node, ast.Call):
        return
    for value in node.args:
        if not isinstance(value, (ast.Starred, ast.Constant, ast.GeneratorExp, ast.Lambda)):
            yield Change("argument", *source.span(value), "None")
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield _dropped(source, *source.span(keyword))


def _dropped(source: Source, start: int, end: int) -> Change:
    """With the comma behind it, or the one before where it is the last."""
    text = source.text
    behind = end
    while behind < len(text) and text[behind].isspace():
        behind += 1
    if text[behind : behind + 1] == ",":
        while text[behind + 1 : behind + 2] in (" ", "\t"):
            behind += 1
        return Change("keyword", start, behind + 1, "")
    before = start
    while before and text[before - 1].isspace():
        before -= 1
    return Change("keyword", before - 1 if text[before - 1 : before] == "," else start, end, "")


def unwrapped(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`sorted(x)` and `x.strip()` become `x`."""
    if not isinstance(node, ast.Call) or isinstance(place.parent, ast.Expr):
        return
    if isinstance(node.func, ast.Name) and node.func.id in _UNWRAPPED and node.args:
        if not isinstance(node.args[0], ast.Starred):
            yield Change("unwrapped", *source.span(node), f"({source.of(node.args[0])})")
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _UNWRAPPED_METHODS:
        yield Change("unwrapped", *source.span(node), f"({source.of(node.func.value)})")


def sliced(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`x[a:b:c]` without its beginning, its end, its step."""
    if not isinstance(node, ast.Slice):
        return
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            start, end = _parenthesised(source, *source.span(part))
            yield Change("slice", start, end, "")


def _parenthesised(source: Source, start: int, end: int) -> tuple[int, int]:
    """A span together with the parentheses right around it."""
    text = source.text
    while text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        start, end = start - 1, end + 1
    return start, end


def default(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """A parameter's default that is more than a constant becomes None."""
    if not isinstance(node, _DEFINITIONS):
        return
    for value in [*node.args.defaults, *node.args.kw_defaults]:
        if value is not None and not isinstance(value, (ast.Constant, ast.UnaryOp)):
            yield Change("default", *source.span(value), "None")


def decorator(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """A decorator is left out."""
    if not isinstance(node, _DECORATED):
        return
    for item in node.decorator_list:
        start, end = source.span(item)
        sign = source.text.rfind("@", 0, start)
        if sign >= 0:
            yield Change("decorator", sign, end, "")
