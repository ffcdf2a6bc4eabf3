"""The statements of a scenario, of which only those that it needs are kept."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from greenloop.testsuite.scenarios.names import (
    Function,
    bound_names,
    children,
    free_names,
    get_dotted_name,
)
from greenloop.testsuite.scenarios.splitting.tables import (
    Known,
    project_table,
    project_value,
    read_fields,
)

# By name the keys that are used of its value; None for the whole value.
Uses = dict[str, "frozenset[object] | None"]
OBSERVERS = ("observe__", "observe_awaited__")  # functions that call their argument at once
_Literal = (ast.Dict, ast.List, ast.Tuple)


class Step(NamedTuple):
    """A statement of a scenario."""

    node: ast.stmt
    defines: frozenset[str] | None = None  # the names for whose sake it is kept, None: always
    body: list[Step] | None = None  # the steps inside of it


@dataclass
class Halves:
    """The two parts of some statements: for the code, and for the tests."""

    steps: list[Step]
    judge: list[ast.stmt]


def join_halves(parts: Iterable[Halves]) -> Halves:
    """Return the halves of statements one after another."""
    found = Halves([], [])
    for item in parts:
        found.steps += item.steps
        found.judge += item.judge
    return found


def keep_used(steps: Iterable[Step], uses: Uses, literals: Known) -> list[ast.stmt]:
    """Return the statements that are needed, in order; `uses` becomes what they use from before.

    Tables and literals keep the parts that are used.

    Raises:
        RefusedError: inputs and expected values cannot be separated.
    """
    kept: list[ast.stmt] = []
    for step in reversed(list(steps)):
        if step.body is not None:
            kept += _keep_block(step, uses, literals)
        elif step.defines is None or step.defines & uses.keys():
            kept.append(_keep_statement(step, uses, literals))
    return kept[::-1]


def pin_captured(steps: Iterable[Step], captured: set[str] | None = None) -> list[Step]:
    """Return the steps; what a function has captured before a step that changes it is always kept."""
    captured = set() if captured is None else captured
    found: list[Step] = []
    for step in steps:
        body = None if step.body is None else pin_captured(step.body, captured)
        is_seen = step.defines is not None and not captured.isdisjoint(step.defines)
        found.append(step._replace(body=body, defines=None if is_seen else step.defines))
        captured |= set(_find_captured_names(step.node))
    return found


def _find_captured_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that functions in a statement have from outside, but for observations."""
    is_observation = isinstance(node, ast.Call) and get_dotted_name(node.func) in OBSERVERS
    if isinstance(node, (ast.Lambda, Function)):
        yield from free_names(node)
    for child in children(node):
        is_own = is_observation and isinstance(child, ast.Lambda)
        yield from _find_captured_names(child.body if is_own else child)  # type: ignore[attr-defined]


def _keep_statement(step: Step, uses: Uses, literals: Known) -> ast.stmt:
    node = copy.copy(step.node)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            used = uses.pop(target.id, None)
            is_known = isinstance(node.value, _Literal) or read_fields(node.value, literals)
            if step.defines and used is not None and is_known:
                node.value = project_value(node.value, used, literals)
            elif step.defines and used is not None and isinstance(node.value, ast.Name):
                merge_uses(uses, {node.value.id: used})  # another name for the same value
                return node
        elif step.defines and (used := find_used_places(target, uses)) is not None:
            if isinstance(node.value, ast.Name):
                merge_uses(uses, {node.value.id: used})
                return node
            if isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(children(target)):
                node.value = project_value(node.value, used, literals)
    add_uses(node, uses, literals)
    return node


def find_used_places(target: ast.expr, uses: Uses) -> frozenset[object] | None:
    """Return the positions in a target of names that are used; None where not all are plain names."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if not parts or not all(isinstance(item, ast.Name) for item in parts):
        return None
    return frozenset(at for at, item in enumerate(parts) if bound_names(item) & uses.keys())


def _keep_block(step: Step, uses: Uses, literals: Known) -> list[ast.stmt]:
    """Return a block with what is kept in it; nothing for one that is empty.

    A loop is gone through until it needs nothing new, as what it needs may come from its own body.
    """
    node, body, inside = copy.copy(step.node), list[ast.stmt](), dict(uses)
    for _ in range(len(step.body or ()) + 2):
        before = dict(inside)
        body = keep_used(step.body or (), inside, literals)
        merge_uses(inside, before)
        if inside == before:
            break
    if not body and isinstance(node, (ast.For, ast.If)):
        return []
    merge_uses(uses, inside)
    if isinstance(node, ast.For):
        node.iter = project_table(node.target, node.iter, inside, literals)
        for name in bound_names(node.target):
            uses.pop(name, None)
        add_uses(node.iter, uses, literals)
    else:
        add_uses(node, uses, literals)
    node.body = body or [ast.Pass()]  # type: ignore[attr-defined]
    return [node]


def merge_uses(uses: Uses, other: Uses) -> None:
    """Add other uses to the first."""
    for name, keys in other.items():
        known = uses.get(name, frozenset())
        uses[name] = None if keys is None or known is None else known | keys


def add_uses(node: ast.AST, uses: Uses, literals: Known) -> None:
    """Add what a node uses of the names that it loads."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
        key = read_key(node)
        if key is not None and isinstance(node.ctx, ast.Load):
            merge_uses(uses, {node.value.id: frozenset({key})})
            return
    if isinstance(node, ast.Call):
        _add_uses_of_call(node, uses, literals)
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        uses[node.id] = None
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        uses |= dict.fromkeys(node.names)
    for child in children(node):
        add_uses(child, uses, literals)


def _add_uses_of_call(node: ast.Call, uses: Uses, literals: Known) -> None:
    """Add what a call uses: of what a function of the test file is given, what its body uses."""
    function = node.func
    add_uses(function.value if isinstance(function, ast.Attribute) else function, uses, literals)
    helper = literals.get(get_dotted_name(function))
    inside: Uses = {}
    parameters = list[str]()
    if isinstance(helper, Function) and not helper.args.vararg:
        parameters = [item.arg for item in helper.args.args]
        others = {key: item for key, item in literals.items() if item is not helper}
        for item in helper.body:
            add_uses(item, inside, others)
    for at, part in enumerate(node.args):
        if at < len(parameters) and isinstance(part, ast.Name):
            merge_uses(uses, {part.id: inside.get(parameters[at], frozenset())})
        else:
            add_uses(part, uses, literals)
    for keyword in node.keywords:
        add_uses(keyword, uses, literals)


def read_key(node: ast.Subscript | ast.Attribute) -> object:
    """Return the name or constant that selects a part of a value; None where it is computed."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.slice.value if isinstance(node.slice, ast.Constant) else None
