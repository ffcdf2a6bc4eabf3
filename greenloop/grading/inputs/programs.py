"""Inputs: calls, and statements as functions that observe their values."""

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from greenloop.grading.inputs.slots import is_observation
from greenloop.syntax.values import find_value_imports
from greenloop.testsuite.held_out_examples import find_fixtures


@dataclass(frozen=True)
class Input:
    """A call as an expression, or a function with observations as a statement."""

    node: ast.expr | ast.stmt
    name: str  # the called name, or the test that the function comes from
    preamble: str = ""  # source before the function
    fixtures: tuple[str, ...] = ()  # arguments of the function

    @property
    def is_call(self) -> bool:
        return isinstance(self.node, ast.expr)

    @cached_property
    def text(self) -> str:
        return ast.unparse(self.node)


def build_program(
    text: str, name: str, module: str, names: Collection[str], classes: Collection[str]
) -> Input:
    """Return statements as a function that observes their expressions, and the objects made.

    `names` are the names in the module, `classes` those of its public classes.
    """
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    fixtures = find_fixtures(text)
    function: Any = ast.parse(f"def program({', '.join(fixtures)}): ...").body[0]
    function.body = [_observe(node, classes) for node in tree.body]
    number_observations(function)
    imports = f"from {module} import {', '.join(sorted(used.intersection(names)))}"
    values = (line for key, line in find_value_imports(text).items() if key not in names)
    preamble = "\n".join([imports, *values])
    return Input(ast.fix_missing_locations(function), name, preamble, fixtures)


def _observe(node: Any, classes: Collection[str]) -> ast.stmt:
    """Observe an expression or an assigned object of `classes`, but no iterator or coroutine."""
    value = getattr(node, "value", None)
    is_object = isinstance(value, ast.Call) and ast.unparse(value.func) in classes
    if isinstance(node, ast.Expr) or (isinstance(node, ast.Assign) and is_object):
        lazy: Any = ast.parse("attempt__(0, lambda: 0)", mode="eval").body
        lazy.args[1].body, node.value = value, lazy
    changed: ast.stmt = node
    return changed


def number_observations(function: ast.AST) -> None:
    """Renumber the observations of a function in place, as copied ones have the same number."""
    calls: Any = [node for node in ast.walk(function) if is_numbered(node)]
    for number, call in enumerate(calls, 1):
        call.args[0] = ast.Constant(number)


def is_numbered(node: ast.AST) -> bool:
    """Return whether a node is an observation with a number; a call of `operate__` has none."""
    return is_observation(node) and isinstance(node.args[0].value, int)  # type: ignore[attr-defined]


def find_observation(tree: ast.AST, number: int) -> Any:
    """Return the observation with a number in a tree; None if it is not there."""
    calls: Any = (node for node in ast.walk(tree) if is_numbered(node))
    return next((call for call in calls if call.args[0].value == number), None)
