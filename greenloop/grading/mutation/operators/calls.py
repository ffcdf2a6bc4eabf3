"""Operators on calls and what goes into them: arguments, methods, slices, defaults, decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation
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
_ONE_WAY_PAIRS = (("popleft", "pop"), ("appendleft", "append"), ("rindex", "index"))
_UNWRAPPABLE_FUNCTIONS = frozenset(
    {"abs", "sorted", "reversed", "list", "tuple", "set", "int", "float", "str", "round"}
)
_UNWRAPPABLE_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "copy", "casefold", "title", "capitalize"}
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DECORATABLE_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _build_counterparts() -> dict[str, str]:
    """Names of methods and functions, each with another of the same kind."""
    return {**dict(_PAIRS), **{second: first for first, second in _PAIRS}, **dict(_ONE_WAY_PAIRS)}


def mutate_called_name(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """Another function of the same kind: `lower` for `upper`, `min` for `max`."""
    if not isinstance(node, ast.Call):
        return
    end = source.span(node.func)[1]
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    other = _build_counterparts().get(name)
    if other and source.text[end - len(name) : end] == name:
        yield ProposedChange("other-call", end - len(name), end, other)


def mutate_argument(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """An argument becomes None; a keyword argument is dropped."""
    if not isinstance(node, ast.Call):
        return
    for value in node.args:
        if not isinstance(value, (ast.Starred, ast.Constant, ast.GeneratorExp, ast.Lambda)):
            yield ProposedChange("argument", *source.span(value), "None")
    for keyword in node.keywords:
        if keyword.arg is not None:
            yield _drop_keyword(source, *source.span(keyword))


def _drop_keyword(source: Source, start: int, end: int) -> ProposedChange:
    """With the comma behind it, or the one before where it is the last."""
    text = source.text
    behind = end
    while behind < len(text) and text[behind].isspace():
        behind += 1
    if text[behind : behind + 1] == ",":
        while text[behind + 1 : behind + 2] in (" ", "\t"):
            behind += 1
        return ProposedChange("keyword", start, behind + 1, "")
    before = start
    while before and text[before - 1].isspace():
        before -= 1
    return ProposedChange(
        "keyword", before - 1 if text[before - 1 : before] == "," else start, end, ""
    )


def unwrap_call(node: ast.AST, location: NodeLocation, source: Source) -> Iterator[ProposedChange]:
    """`sorted(x)` and `x.strip()` become `x`."""
    if not isinstance(node, ast.Call) or isinstance(location.parent, ast.Expr):
        return
    if isinstance(node.func, ast.Name) and node.func.id in _UNWRAPPABLE_FUNCTIONS and node.args:
        if not isinstance(node.args[0], ast.Starred):
            yield ProposedChange(
                "unwrapped", *source.span(node), f"({source.get_segment(node.args[0])})"
            )
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _UNWRAPPABLE_METHODS:
        yield ProposedChange(
            "unwrapped", *source.span(node), f"({source.get_segment(node.func.value)})"
        )


def mutate_slice(node: ast.AST, location: NodeLocation, source: Source) -> Iterator[ProposedChange]:
    """`x[a:b:c]` without its beginning, its end, its step."""
    if not isinstance(node, ast.Slice):
        return
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            start, end = _extend_over_parentheses(source, *source.span(part))
            yield ProposedChange("slice", start, end, "")


def _extend_over_parentheses(source: Source, start: int, end: int) -> tuple[int, int]:
    """A span together with the parentheses right around it."""
    text = source.text
    while text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        start, end = start - 1, end + 1
    return start, end


def mutate_default(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """A parameter's default that is more than a constant becomes None."""
    if not isinstance(node, _DEFINITIONS):
        return
    for value in [*node.args.defaults, *node.args.kw_defaults]:
        if value is not None and not isinstance(value, (ast.Constant, ast.UnaryOp)):
            yield ProposedChange("default", *source.span(value), "None")


def remove_decorator(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """A decorator is left out."""
    if not isinstance(node, _DECORATABLE_NODES):
        return
    for item in node.decorator_list:
        start, end = source.span(item)
        sign = source.text.rfind("@", 0, start)
        if sign >= 0:
            yield ProposedChange("decorator", sign, end, "")
