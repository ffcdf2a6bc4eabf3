"""Operators on calls, arguments, methods, slices, defaults and decorators."""

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import NodeContext, get_last_name
from greenloop.syntax.operators.protocol import edit_operator
from greenloop.syntax.source import TextEdit

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
_COUNTERPARTS = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}, **dict(_ONE_WAY_PAIRS)}
_UNWRAPPABLE_FUNCTIONS = frozenset("abs sorted reversed list tuple set int float str round".split())
_UNWRAPPABLE_METHODS = frozenset(
    "strip lstrip rstrip lower upper copy casefold title capitalize".split()
)


@edit_operator("other-call")
def replace_callee(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    """Call another function of the same kind: `lower` for `upper`, `min` for `max`."""
    name = "" if isinstance(node.func, ast.Call) else get_last_name(node.func)
    end = context.source.span(node.func)[1]
    other = _COUNTERPARTS.get(name)
    if other and context.source.text[end - len(name) : end] == name:
        yield TextEdit(end - len(name), end, other)


@edit_operator("argument")
def discard_argument(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    """Replace a positional argument by None."""
    for value in node.args:
        if not isinstance(value, (ast.Starred, ast.Constant, ast.GeneratorExp, ast.Lambda)):
            yield context.replace(value, "None")


@edit_operator("keyword")
def drop_keyword(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    """Drop a keyword argument, with the comma after it, or the one before it if it is the last.

    True or False is not dropped: `truth` turns it into what is nearly always the default.
    """
    text = context.source.text
    for keyword in node.keywords:
        is_flag = isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool)
        if keyword.arg is None or is_flag:
            continue
        start, end = context.source.span(keyword)
        after = end + len(text[end:]) - len(text[end:].lstrip())
        if text[after : after + 1] == ",":
            rest = text[after + 1 :]
            yield TextEdit(start, len(text) - len(rest.lstrip(" \t")), "")
        else:
            before = len(text[:start].rstrip())
            yield TextEdit(before - 1 if text[before - 1 : before] == "," else start, end, "")


@edit_operator("unwrapped")
def unwrap_call(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    """Replace `sorted(x)` and `x.strip()` by `x`, except where the result is not used."""
    if isinstance(context.parent, ast.Expr):
        return
    if isinstance(node.func, ast.Name) and node.func.id in _UNWRAPPABLE_FUNCTIONS and node.args:
        if not isinstance(node.args[0], ast.Starred):
            yield context.replace(node, f"({context.text(node.args[0])})")
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _UNWRAPPABLE_METHODS:
        yield context.replace(node, f"({context.text(node.func.value)})")


@edit_operator("slice", cost=2.0)
def drop_slice_part(context: NodeContext, node: ast.Slice) -> Iterator[TextEdit]:
    """Drop the start, the end or the step of a slice, with the parentheses around it."""
    text = context.source.text
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            start, end = context.source.span(part)
            while text[start - 1 : start] == "(" and text[end : end + 1] == ")":
                start, end = start - 1, end + 1
            yield TextEdit(start, end, "")


@edit_operator("default")
def discard_default(
    context: NodeContext, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
) -> Iterator[TextEdit]:
    """Replace a parameter's default that is not a constant by None."""
    for value in [*node.args.defaults, *node.args.kw_defaults]:
        if value is not None and not isinstance(value, (ast.Constant, ast.UnaryOp)):
            yield context.replace(value, "None")


@edit_operator("decorator")
def remove_decorator(
    context: NodeContext, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> Iterator[TextEdit]:
    """Delete a decorator."""
    for item in node.decorator_list:
        start, end = context.source.span(item)
        sign = context.source.text.rfind("@", 0, start)
        if sign >= 0:
            yield TextEdit(sign, end, "")
