"""Functions and methods of a family, calls that are missing or too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import Spot
from greenloop.syntax.edit import Edit

_FAMILIES: tuple[frozenset[str], ...] = tuple(
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
_METHODS: tuple[frozenset[str], ...] = tuple(
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
_WRAPS = ("sorted", "list", "len", "abs", "int", "str", "set", "sum", "tuple", "float", "reversed")
_CALLS = ("copy()", "lower()", "strip()", "upper()", "items()", "keys()", "values()", "split()")
_NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp)
_VALUES = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.BinOp,
    ast.ListComp,
    ast.GeneratorExp,
)


def family(spot: Spot) -> Iterator[Edit]:
    node = spot.node
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name):
        for other in _others(_FAMILIES, node.func.id):
            yield spot.replace(node.func, other, "function", 1.4)
    elif isinstance(node.func, ast.Attribute):
        base = spot.atom(node.func.value)
        for other in _others((*_METHODS, *_FAMILIES), node.func.attr):
            yield spot.replace(node.func, f"{base}.{other}", "method", 1.4)
        if node.func.attr in ("get", "setdefault") and len(node.args) == 2:
            inner = ", ".join(spot.text(item) for item in node.args)
            other = "setdefault" if node.func.attr == "get" else "get"
            yield spot.replace(node, f"{base}.{other}({inner})", "method", 1.3)


def _others(families: tuple[frozenset[str], ...], name: str) -> list[str]:
    found = {other for items in families if name in items for other in items}
    return sorted(found - {name})


def unwrapped(spot: Spot) -> Iterator[Edit]:
    """`sorted(x)` becomes `x`, `x.lower()` becomes `x`, `max(a, b)` becomes `b`."""
    node = spot.node
    if not isinstance(node, ast.Call) or isinstance(spot.parent, ast.Expr):
        return
    for item in node.args:
        if not isinstance(item, (ast.Starred, ast.GeneratorExp)):
            text = spot.in_place(item)
            yield spot.replace(node, text, "call left out", 2.2 if len(node.args) < 3 else 2.8)
    if isinstance(node.func, ast.Attribute):
        yield spot.replace(node, spot.text(node.func.value), "call left out", 2.3)


def wrapped(spot: Spot) -> Iterator[Edit]:
    """`x` becomes `sorted(x)`, `x.copy()`, `max(0, x)`, `max(x, y)`, and so on."""
    node = spot.node
    if not isinstance(node, _VALUES) or not _is_read(spot):
        return
    text = spot.text(node)
    atom = spot.atom(node)
    for name in _WRAPS:
        inner = text[1:-1] if isinstance(node, ast.GeneratorExp) and text[0] == "(" else text
        yield spot.replace(node, f"{name}({inner})", "call", 2.0 if name != "reversed" else 2.6)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        for call in _CALLS:
            yield spot.replace(node, f"{atom}.{call}", "call", 2.3)
        yield spot.replace(node, f"{atom}[:]", "copy", 2.5)
        yield spot.replace(node, f"{atom}[::-1]", "slice", 2.2)
        yield spot.replace(node, f"{atom}[1:]", "slice", 2.6)
        yield spot.replace(node, f"{atom}[:-1]", "slice", 2.6)
        for index in ("0", "-1", "1"):
            yield spot.replace(node, f"{atom}[{index}]", "index", 2.7)
        if "deepcopy" in spot.source.text:
            name = "copy.deepcopy" if "copy.deepcopy" in spot.source.text else "deepcopy"
            yield spot.replace(node, f"{name}({text})", "copy", 1.9)
    yield spot.replace(node, f"round({text})", "call", 2.6)
    yield from _bounded(spot, text)


def _bounded(spot: Spot, text: str) -> Iterator[Edit]:
    node = spot.node
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) or not isinstance(node, ast.expr):
        return
    if not isinstance(spot.parent, (ast.Assign, ast.Return, ast.Tuple, ast.Call, ast.BinOp)):
        return
    yield spot.replace(node, f"max(0, {text})", "bound", 2.6)
    yield spot.replace(node, f"max(1, {text})", "bound", 3.0)
    others = [*spot.scope.variables, *(item for item in spot.scope.donors if "[" in item)]
    for other in dict.fromkeys(others):
        if other != text:
            for name in ("max", "min"):
                yield spot.replace(node, f"{name}({other}, {text})", "bound", 2.9)


def _is_read(spot: Spot) -> bool:
    """Whether a value is wanted here, not a place or what is called."""
    context = getattr(spot.node, "ctx", None)
    if isinstance(context, (ast.Store, ast.Del)) or spot.field_of("func"):
        return False
    return not isinstance(
        spot.parent, (ast.Expr, ast.JoinedStr, ast.FormattedValue, ast.Attribute, ast.ExceptHandler)
    ) and not isinstance(spot.parent, (ast.Raise, ast.ClassDef))


def converted(spot: Spot) -> Iterator[Edit]:
    """In an f-string as well nothing is converted, but what is subscripted may be."""
    node = spot.node
    if isinstance(node, ast.Attribute) and not isinstance(spot.parent, ast.Call):
        yield spot.replace(node, f"{spot.text(node)}()", "call", 2.4)
    if isinstance(node, ast.GeneratorExp) and isinstance(spot.parent, ast.Call):
        return
    if isinstance(node, _NUMBERS) and isinstance(spot.parent, ast.BinOp):
        yield spot.replace(node, f"str({spot.text(node)})", "call", 2.6)
