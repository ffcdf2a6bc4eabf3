"""The scenarios of a test file as functions of their own, whose literals can be changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.scenarios import ScenarioFile
from greenloop.testsuite.variants.trees import copy_tree, fold_signs, is_observation

_MAX_ROWS = 8


@dataclass(frozen=True)
class ScenarioCase:
    """One row of a scenario: a function whose only parameters are fixtures, and its test."""

    function: Function
    fixtures: tuple[str, ...]
    test: str
    preamble: str
    names: Mapping[str, str]  # neutral names of helpers by their own


def split_cases(plan: ScenarioFile) -> list[ScenarioCase]:
    """Return each row of each scenario with its arguments as assignments."""
    tree = parse_or_none(plan.scenario)
    if tree is None or not tree.body or not plan.scenarios:
        return []
    entries: Any = tree.body.pop()
    functions = {getattr(item, "name", ""): item for item in tree.body if _is_scenario(item)}
    others: list[ast.stmt] = [item for item in tree.body if not _is_scenario(item)]
    preamble = ast.unparse(ast.Module(others, []))
    found: list[ScenarioCase] = []
    for entry, scenario in zip(entries.value.elts, plan.scenarios, strict=False):
        name, fixtures, tables = entry.elts
        for row in islice(_read_rows(tables.body), _MAX_ROWS):
            function = _bind(functions[name.id], row)
            names = tuple(item.value for item in fixtures.elts)
            found.append(ScenarioCase(function, names, scenario.test, preamble, plan.names))
    return found


def _is_scenario(node: ast.stmt) -> Any:
    return isinstance(node, Function) and node.name.startswith("scenario_")


def _read_rows(tables: ast.expr) -> Iterator[dict[str, ast.expr]]:
    """Yield the arguments of each row; nothing where they are not written out."""
    axes: list[list[dict[str, ast.expr]]] = []
    for table in getattr(tables, "elts", []):
        names = [item.value for item in table.elts[0].elts]
        rows = [
            row.elts for row in getattr(table.elts[1], "elts", []) if isinstance(row, ast.Tuple)
        ]
        axes.append([dict(zip(names, row, strict=True)) for row in rows if len(row) == len(names)])
    for combination in product(*axes):
        yield {name: value for part in combination for name, value in part.items()}


def _bind(function: Any, row: dict[str, ast.expr]) -> Any:
    bound = copy_tree(function)
    used = {node.id for node in ast.walk(bound) if isinstance(node, ast.Name)}
    assigned = [
        ast.Assign([ast.Name(name, ast.Store())], value)
        for name, value in row.items()
        if name in used
    ]
    bound.args.args = [item for item in bound.args.args if item.arg not in row]
    bound.body = [*map(copy_tree, assigned), *bound.body]
    return fold_signs(ast.fix_missing_locations(bound))


def number_observations(function: ast.AST) -> None:
    """Number the observations of a function anew, in place: those that were copied have one number."""
    calls: Any = [node for node in ast.walk(function) if is_observation(node)]
    for number, call in enumerate(calls, 1):
        call.args[0] = ast.Constant(number)


def render_statements(function: ast.AST, last: int) -> str:
    """Return the body of a scenario as plain statements, up to the observation of a number."""
    found: list[str] = []
    for node in getattr(function, "body", []):
        found.append(ast.unparse(_WithoutObservations().visit(copy_tree(node))))
        calls: Any = (item for item in ast.walk(node) if is_observation(item))
        if any(item.args[0].value == last for item in calls):
            break
    return "\n".join(found)


class _WithoutObservations(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not is_observation(node):
            return node
        thunk = node.args[1]
        return thunk.body if isinstance(thunk, ast.Lambda) else ast.Call(thunk, [], [])
