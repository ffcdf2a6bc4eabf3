"""Names that decide how the answers of two programs are compared."""

import ast
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from greenloop.grading.inputs.known_calls import list_constants
from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.testsuite.bare_interface import reduce_interface

_ORDER = re.compile(
    r"\b(sort|order(?! to\b)|ascend|descend|alphabet|chronolog|first(?=[,.;:)]|$)|reihenfolge)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Names:
    """Names in the text or the interface (`words`), and `fields` of the interface's classes.

    `constants` are pairs of values, as source, that the code and the peer give to a constant whose
    value the text leaves open. `coroutines` are the functions that have to be awaited. The order of
    a dict counts only if the text speaks of an order (`has_order`).
    """

    words: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    constants: frozenset[tuple[str, str]] = frozenset()
    coroutines: frozenset[str] = frozenset()
    has_order: bool = False


def read_names(interface: str, specification: str, code: str, peer: str) -> Names:
    """Return the names for the comparison of two programs."""
    nodes = list(ast.walk(parse_or_empty(interface)))
    declared = {node.target.id for node in nodes if _is_declared(node)}  # type: ignore[attr-defined]
    methods = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    words = frozenset(re.findall(r"\w+", f"{specification}\n{interface}"))
    constants = _pair_open_constants(interface, specification, code, peer)
    own = parse_or_empty(code).body
    coroutines = frozenset(node.name for node in own if isinstance(node, ast.AsyncFunctionDef))
    has_order = _ORDER.search(specification) is not None
    return Names(words, frozenset(declared | methods), constants, coroutines, has_order)


def _is_declared(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def _pair_open_constants(
    interface: str, text: str, code: str, peer: str
) -> frozenset[tuple[str, str]]:
    """Return the values, as source, that two programs give the constants of an interface.

    Constants whose value the text states are left out, and so are all if both programs agree.
    """
    nodes = parse_or_empty(
        reduce_interface(interface, text) if parse_or_none(interface) else ""
    ).body
    stated = (item for item in nodes if not getattr(item, "value", None) or _is_open(item))
    names = {*list_constants(stated)}
    mine, theirs = map(_read_values, (code, peer))
    pairs = {(mine[key], theirs[key]) for key in names if key in mine and key in theirs}
    return frozenset(pairs) if any(one != other for one, other in pairs) else frozenset()


def _is_open(node: Any) -> bool:
    return isinstance(node.value, ast.Constant) and node.value.value is ...


def _read_values(code: str) -> dict[str, str]:
    """Return the encoded values, as source, of a module's top-level numbers, texts and tuples."""
    return {
        target.id: value
        for node in parse_or_empty(code).body
        if isinstance(node, ast.Assign) and (value := _encode(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _encode(node: ast.expr) -> str:
    with suppress(ValueError, TypeError, RecursionError):
        value = ast.literal_eval(node)
        parts = value if isinstance(value, tuple) else (value,)
        if all(isinstance(item, (int, str)) for item in parts):
            return repr(["tuple", *parts] if isinstance(value, tuple) else value)
    return ""
