"""Calls like those of the tests with other arguments, on which plausible patches may differ."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.testsuite import TestFile

_MAX_CALLS, _MAX_PROBES, _MAX_CALL_CHARS = 60, 60, 200
LiteralValue = str | bool | int | float
_PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Probes:
    """Calls of the module's functions and classes, as source with literal arguments."""

    calls: tuple[str, ...]


def generate_probes(code: str, tests: Sequence[TestFile], seed: int) -> Probes:
    """Return variants of the calls in the tests; none of them is itself in the tests."""
    try:
        tree = ast.parse(code)
    except _PARSE_ERRORS:
        return Probes(())
    names = {item.name for item in tree.body if isinstance(item, (ast.FunctionDef, ast.ClassDef))}
    seen = dict.fromkeys(text for item in tests for text in _extract_calls(item.code, names))
    rng = random.Random(seed)
    varied: dict[str, None] = {}
    for text in list(seen)[:_MAX_CALLS]:
        varied.update(dict.fromkeys(item for item in _generate_variants(text) if item not in seen))
    found = list(varied)
    if len(found) > _MAX_PROBES:
        found = [found[n] for n in sorted(rng.sample(range(len(found)), _MAX_PROBES))]
    return Probes(tuple(found))


def _extract_calls(code: str, names: set[str]) -> Iterator[str]:
    try:
        tree = ast.parse(code)
    except _PARSE_ERRORS:
        return
    constants = _collect_constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        text = ast.unparse(_inline_constants(node, constants))
        used = {item.id for item in ast.walk(ast.parse(text)) if isinstance(item, ast.Name)}
        if _find_root_name(node) in names and used <= names and len(text) <= _MAX_CALL_CHARS:
            yield text


def _find_root_name(node: ast.expr) -> str:
    """Return `f` for `f(…)`, for `m.f(…)`, and for `f(…).g(…)`."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.attr
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _collect_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the names of a test file that are set to a literal, with their values."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                ast.literal_eval(node.value)
            except _PARSE_ERRORS:
                continue
            found[node.targets[0].id] = node.value
    return found


class _ConstantInliner(ast.NodeTransformer):
    def __init__(self, constants: dict[str, ast.expr]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._constants.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        module = isinstance(node.value, ast.Name) and node.value.id not in self._constants
        return ast.Name(node.attr, ast.Load()) if module else node


def _inline_constants(node: ast.Call, constants: dict[str, ast.expr]) -> ast.expr:
    copied = ast.parse(ast.unparse(node), mode="eval").body
    plain: ast.expr = _ConstantInliner(constants).visit(copied)
    return plain


def _generate_variants(text: str) -> Iterator[str]:
    """Yield variants of a call, each with one value changed."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        for name, value in list(ast.iter_fields(node)):
            for at, item in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(item, ast.expr):
                    continue
                for other in _alternative_expressions(item):
                    _set_child(node, name, at, value, other)
                    yield ast.unparse(tree)
                    _set_child(node, name, at, value, item)


def _set_child(node: ast.AST, name: str, index: int, value: object, replacement: ast.expr) -> None:
    if isinstance(value, list):
        value[index] = replacement
    else:
        setattr(node, name, replacement)


def _alternative_expressions(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Constant):
        return [ast.Constant(item) for item in _nearby_values(node.value)]
    if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        kind = type(node)
        shapes: tuple[list[ast.expr], ...] = (
            node.elts[:-1],
            node.elts[1:],
            node.elts[::-1],
            node.elts * 2,
            [],
        )
        return [kind(elts=list(item), ctx=ast.Load()) for item in shapes]
    return []


def _nearby_values(value: object) -> tuple[LiteralValue, ...]:
    if isinstance(value, bool) or value is None:
        return () if value is None else (not value,)
    if isinstance(value, int):
        return tuple(dict.fromkeys((value + 1, value - 1, 2 * value + 1, 0)))
    if isinstance(value, float):
        return (value + 0.5, -value, 0.0)
    if isinstance(value, str):
        return ("", value[:-1], value + value, value.upper(), value[::-1])
    return ()
