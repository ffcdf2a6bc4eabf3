"""Operators on calls: related functions and methods, missing and superfluous calls."""

import ast

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.operators.protocol import edit_operator

_FUNCTION_FAMILIES = (
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
_METHOD_FAMILIES = (
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
_WRAPPER_FUNCTIONS = tuple("sorted list len abs int str set sum tuple float reversed".split())
_METHOD_CALLS = tuple("copy() lower() strip() upper() items() keys() values() split()".split())
_BOUND_PARENTS = (ast.Assign, ast.Return, ast.Tuple, ast.Call, ast.BinOp, ast.Slice)
ValueNode = (
    ast.Name
    | ast.Attribute
    | ast.Subscript
    | ast.Call
    | ast.BinOp
    | ast.List
    | ast.ListComp
    | ast.GeneratorExp
)


@edit_operator()
def replace_callee(context: RepairContext, node: ast.Call) -> Edits:
    """Call a related function or method."""
    if isinstance(node.func, ast.Name):
        for other in _find_related_names(_FUNCTION_FAMILIES, node.func.id):
            yield context.edit(node.func, other, "function", 1.4)
    elif isinstance(node.func, ast.Attribute):
        base = context.get_parenthesized_text(node.func.value)
        for other in _find_related_names((*_METHOD_FAMILIES, *_FUNCTION_FAMILIES), node.func.attr):
            yield context.edit(node.func, f"{base}.{other}", "method", 1.4)
        if node.func.attr in ("get", "setdefault") and len(node.args) == 2:
            inner = ", ".join(context.text(item) for item in node.args)
            other = "setdefault" if node.func.attr == "get" else "get"
            yield context.edit(node, f"{base}.{other}({inner})", "method", 1.3)


def _find_related_names(families: tuple[str, ...], name: str) -> list[str]:
    related = {other for words in families if name in words.split() for other in words.split()}
    return sorted(related - {name})


@edit_operator()
def unwrap_call(context: RepairContext, node: ast.Call) -> Edits:
    """Replace `sorted(x)` by `x`, `x.lower()` by `x`, `max(a, b)` by `b`."""
    if isinstance(context.parent, ast.Expr):
        return
    for item in node.args:
        if not isinstance(item, (ast.Starred, ast.GeneratorExp)):
            text = context.replacement_text(item)
            yield context.edit(node, text, "call left out", 2.2 if len(node.args) < 3 else 2.8)
    if isinstance(node.func, ast.Attribute):
        yield context.edit(node, context.text(node.func.value), "call left out", 2.3)


@edit_operator()
def wrap_in_call(context: RepairContext, node: ValueNode) -> Edits:
    """Replace `x` by `sorted(x)`, `x.copy()`, `max(0, x)`, `max(x, y)`, and so on."""
    if not _is_value_read(context):
        return
    text = context.text(node)
    atom = context.get_parenthesized_text(node)
    for name in _WRAPPER_FUNCTIONS:
        inner = text[1:-1] if isinstance(node, ast.GeneratorExp) and text[0] == "(" else text
        cost = 2.6 if name in ("reversed", "set", "tuple", "float") else 2.0
        yield context.edit(node, f"{name}({inner})", "call", cost)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        for call in _METHOD_CALLS:
            yield context.edit(node, f"{atom}.{call}", "call", 2.3)
        yield context.edit(node, f"{atom}[:]", "copy", 2.5)
        yield context.edit(node, f"{atom}[::-1]", "slice", 2.2)
        yield context.edit(node, f"{atom}[1:]", "slice", 2.6)
        yield context.edit(node, f"{atom}[:-1]", "slice", 2.6)
        for index in ("0", "-1", "1"):
            yield context.edit(node, f"{atom}[{index}]", "index", 2.7)
        if "deepcopy" in context.source.text:
            name = "copy.deepcopy" if "copy.deepcopy" in context.source.text else "deepcopy"
            yield context.edit(node, f"{name}({text})", "copy", 1.9)
    yield context.edit(node, f"round({text})", "call", 2.6)
    yield from _wrap_in_min_max(context, text)


def _wrap_in_min_max(context: RepairContext, text: str) -> Edits:
    node = context.node
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) or not isinstance(node, ast.expr):
        return
    if not isinstance(context.parent, _BOUND_PARENTS):
        return
    yield context.edit(node, f"max(0, {text})", "bound", 2.6)
    yield context.edit(node, f"max(1, {text})", "bound", 3.0)
    others = [*context.scope.variables, *(item for item in context.scope.donors if "[" in item)]
    for other in dict.fromkeys(others):
        if other != text:
            for name in ("max", "min"):
                yield context.edit(node, f"{name}({other}, {text})", "bound", 2.9)


def _is_value_read(context: RepairContext) -> bool:
    """Return whether the node is read as a value, and is neither a target nor called."""
    parents = (ast.Expr, ast.JoinedStr, ast.FormattedValue, ast.Attribute, ast.ExceptHandler)
    is_excluded = isinstance(context.parent, (*parents, ast.Raise, ast.ClassDef))
    return not (is_excluded or context.is_stored or context.is_field("func"))
