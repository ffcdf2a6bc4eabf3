"""Functions and methods of a family, calls that are missing or too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext
from greenloop.syntax.edit import TextEdit

_FUNCTION_FAMILIES: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "any all",
        "min max",
        "sum len max",
        "sorted list set tuple reversed",
        "int float round str",
        "floor ceil round trunc",
        "ord chr",
        "range enumerate",
        "isinstance issubclass",
        "zip zip_longest",
    )
)
_METHOD_FAMILIES: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "append extend appendleft insert",
        "add update append",
        "add remove discard",
        "pop popleft",
        "popitem pop",
        "remove discard pop",
        "get pop setdefault",
        "startswith endswith",
        "lower upper title capitalize casefold swapcase",
        "strip lstrip rstrip",
        "split rsplit splitlines partition",
        "partition rpartition",
        "find rfind index rindex",
        "keys values items",
        "union intersection difference symmetric_difference",
        "issubset issuperset isdisjoint",
        "isdigit isalpha isalnum isspace isdecimal",
        "isupper islower",
        "ljust rjust center",
        "match search fullmatch",
        "start end",
        "removeprefix removesuffix",
        "floor ceil",
        "copy deepcopy",
        "heappush heappushpop heapreplace",
        "bisect_left bisect_right bisect",
    )
)
_WRAPPER_FUNCTIONS = (
    "sorted",
    "list",
    "len",
    "abs",
    "int",
    "str",
    "set",
    "sum",
    "tuple",
    "float",
    "reversed",
)
_METHOD_CALLS = (
    "copy()",
    "lower()",
    "strip()",
    "upper()",
    "items()",
    "keys()",
    "values()",
    "split()",
)
_NUMERIC_NODES = (ast.Constant, ast.BinOp, ast.UnaryOp)
_VALUE_NODES = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.BinOp,
    ast.ListComp,
    ast.GeneratorExp,
)


def replace_callee(context: NodeContext) -> Iterator[TextEdit]:
    node = context.node
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name):
        for other in _find_related_names(_FUNCTION_FAMILIES, node.func.id):
            yield context.replace_node(node.func, other, "function", 1.4)
    elif isinstance(node.func, ast.Attribute):
        base = context.parenthesized_text(node.func.value)
        for other in _find_related_names((*_METHOD_FAMILIES, *_FUNCTION_FAMILIES), node.func.attr):
            yield context.replace_node(node.func, f"{base}.{other}", "method", 1.4)
        if node.func.attr in ("get", "setdefault") and len(node.args) == 2:
            inner = ", ".join(context.text(item) for item in node.args)
            other = "setdefault" if node.func.attr == "get" else "get"
            yield context.replace_node(node, f"{base}.{other}({inner})", "method", 1.3)


def _find_related_names(families: tuple[frozenset[str], ...], name: str) -> list[str]:
    found = {other for items in families if name in items for other in items}
    return sorted(found - {name})


def unwrap_call(context: NodeContext) -> Iterator[TextEdit]:
    """`sorted(x)` becomes `x`, `x.lower()` becomes `x`, `max(a, b)` becomes `b`."""
    node = context.node
    if not isinstance(node, ast.Call) or isinstance(context.parent, ast.Expr):
        return
    for item in node.args:
        if not isinstance(item, (ast.Starred, ast.GeneratorExp)):
            text = context.replacement_text(item)
            yield context.replace_node(
                node, text, "call left out", 2.2 if len(node.args) < 3 else 2.8
            )
    if isinstance(node.func, ast.Attribute):
        yield context.replace_node(node, context.text(node.func.value), "call left out", 2.3)


def wrap_in_call(context: NodeContext) -> Iterator[TextEdit]:
    """`x` becomes `sorted(x)`, `x.copy()`, `max(0, x)`, `max(x, y)`, and so on."""
    node = context.node
    if not isinstance(node, _VALUE_NODES) or not _is_value_read(context):
        return
    text = context.text(node)
    atom = context.parenthesized_text(node)
    for name in _WRAPPER_FUNCTIONS:
        inner = text[1:-1] if isinstance(node, ast.GeneratorExp) and text[0] == "(" else text
        yield context.replace_node(
            node, f"{name}({inner})", "call", 2.0 if name != "reversed" else 2.6
        )
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        for call in _METHOD_CALLS:
            yield context.replace_node(node, f"{atom}.{call}", "call", 2.3)
        yield context.replace_node(node, f"{atom}[:]", "copy", 2.5)
        yield context.replace_node(node, f"{atom}[::-1]", "slice", 2.2)
        yield context.replace_node(node, f"{atom}[1:]", "slice", 2.6)
        yield context.replace_node(node, f"{atom}[:-1]", "slice", 2.6)
        for index in ("0", "-1", "1"):
            yield context.replace_node(node, f"{atom}[{index}]", "index", 2.7)
        if "deepcopy" in context.source.text:
            name = "copy.deepcopy" if "copy.deepcopy" in context.source.text else "deepcopy"
            yield context.replace_node(node, f"{name}({text})", "copy", 1.9)
    yield context.replace_node(node, f"round({text})", "call", 2.6)
    yield from _wrap_in_min_max(context, text)


def _wrap_in_min_max(context: NodeContext, text: str) -> Iterator[TextEdit]:
    node = context.node
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) or not isinstance(node, ast.expr):
        return
    if not isinstance(context.parent, (ast.Assign, ast.Return, ast.Tuple, ast.Call, ast.BinOp)):
        return
    yield context.replace_node(node, f"max(0, {text})", "bound", 2.6)
    yield context.replace_node(node, f"max(1, {text})", "bound", 3.0)
    others = [*context.scope.variables, *(item for item in context.scope.donors if "[" in item)]
    for other in dict.fromkeys(others):
        if other != text:
            for name in ("max", "min"):
                yield context.replace_node(node, f"{name}({other}, {text})", "bound", 2.9)


def _is_value_read(node_context: NodeContext) -> bool:
    """Whether a value is wanted here, not a place or what is called."""
    context = getattr(node_context.node, "ctx", None)
    if isinstance(context, (ast.Store, ast.Del)) or node_context.is_field("func"):
        return False
    return not isinstance(
        node_context.parent,
        (ast.Expr, ast.JoinedStr, ast.FormattedValue, ast.Attribute, ast.ExceptHandler),
    ) and not isinstance(node_context.parent, (ast.Raise, ast.ClassDef))


def convert_value(context: NodeContext) -> Iterator[TextEdit]:
    """In an f-string as well nothing is converted, but what is subscripted may be."""
    node = context.node
    if isinstance(node, ast.Attribute) and not isinstance(context.parent, ast.Call):
        yield context.replace_node(node, f"{context.text(node)}()", "call", 2.4)
    if isinstance(node, ast.GeneratorExp) and isinstance(context.parent, ast.Call):
        return
    if isinstance(node, _NUMERIC_NODES) and isinstance(context.parent, ast.BinOp):
        yield context.replace_node(node, f"str({context.text(node)})", "call", 2.6)
