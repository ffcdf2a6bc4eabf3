"""What tests ask with plain values alone: calls of the module, and what is said of their answers."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from greenloop.grading.assertion_mutation.assertion_calls import called, is_raising
from greenloop.grading.assertion_mutation.literals import literal
from greenloop.grading.assertion_mutation.parametrize import rows
from greenloop.testsuite.parser import Function, is_test_class

How = Literal["equal", "near", "truth"]
_PREPARING = frozenset(
    "setUp setUpClass setup_method setup_class setup setup_module setup_function".split()
)
_METHODS: dict[str, How] = {
    "assertEqual": "equal",
    "assertAlmostEqual": "near",
    "assertTrue": "truth",
    "assertFalse": "truth",
    "assertIs": "equal",
}
_Values = Mapping[str, ast.expr]
_OF_TWO = 2


@dataclass(frozen=True)
class Asked:
    """`call` is an expression over the module's names, `function` the name that it calls with
    `arguments`. Its answer equals `expected`, is near to it, or (how true a call is) is it.
    """

    function: str
    call: str
    arguments: tuple[object, ...]
    expected: object
    how: How


def asked(code: str, module: str) -> list[Asked]:
    """The calls of one test file, in its order, each once; [] where it does not parse.

    Only of tests that do nothing but ask: what was prepared before a call may be part of it.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if "autouse" in code or any(_prepares(node) for node in tree.body):
        return []
    reader = _Reader(tree, module)
    found = [item for test in _tests(tree.body) for item in reader.of(test)]
    return list({(item.call, item.how): item for item in found}.values())


def _prepares(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name in _PREPARING


def _tests(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and is_test_class(node):
            if not any(map(_prepares, node.body)):
                yield from _tests(node.body)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node


class _Reader:
    """Reads assertions, given under which names the file has the module and what is in it."""

    def __init__(self, tree: ast.Module, module: str) -> None:
        self._names: dict[str, str] = {}
        self._modules: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == module:
                self._names |= {item.asname or item.name: item.name for item in node.names}
            elif isinstance(node, ast.Import):
                names = [item for item in node.names if item.name == module]
                self._modules |= {item.asname or item.name for item in names}

    def of(self, test: ast.FunctionDef) -> Iterator[Asked]:
        wanted = [item.arg for item in test.args.args if item.arg != "self"]
        for values in rows(test.decorator_list, wanted):
            for statement in test.body:
                if isinstance(statement, ast.Assert):
                    yield from self._said(statement.test, values)
                elif isinstance(statement, ast.Expr):
                    yield from self._method(statement.value, values)
                elif not _is_passed_over(statement):
                    break

    def _method(self, node: ast.expr, values: _Values) -> Iterator[Asked]:
        how = _METHODS.get(called(node))
        if not isinstance(node, ast.Call) or how is None or not node.args:
            return
        if how == "truth":
            negated = ast.UnaryOp(ast.Not(), node.args[0])
            yield from self._said(node.args[0] if called(node) == "assertTrue" else negated, values)
        elif len(node.args) == _OF_TWO:
            yield from self._held_against(node.args[0], node.args[1], how, values)

    def _said(self, test: ast.expr, values: _Values) -> Iterator[Asked]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._asked(test.operand, False, "truth", values)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._compared(test, values)
        elif called(test) == "isclose" and isinstance(test, ast.Call) and len(test.args) > 1:
            yield from self._held_against(test.args[0], test.args[1], "near", values)
        else:
            yield from self._asked(test, True, "truth", values)

    def _compared(self, test: ast.Compare, values: _Values) -> Iterator[Asked]:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.Is)):
            yield from self._held_against(left, right, "equal", values)
        elif isinstance(operator, (ast.Lt, ast.LtE)) and called(left) == "abs":
            inner = left.args[0] if isinstance(left, ast.Call) and left.args else None
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
                yield from self._held_against(inner.left, inner.right, "near", values)

    def _held_against(
        self, left: ast.expr, right: ast.expr, how: How, values: _Values
    ) -> Iterator[Asked]:
        for call, expected in ((left, right), (right, left)):
            if isinstance(expected, ast.Call) and called(expected) == "approx" and expected.args:
                expected, how = expected.args[0], "near"
            known = literal(_filled(expected, values))
            if known:
                yield from self._asked(call, known[0], how, values)
                return

    def _asked(
        self, node: ast.expr, expected: object, how: How, values: _Values
    ) -> Iterator[Asked]:
        name = self._name(node)
        if not name or not isinstance(node, ast.Call) or node.keywords or not node.args:
            return
        arguments = [_filled(item, values) for item in node.args]
        known = [literal(item) for item in arguments]
        if all(known):
            text = f"{name}({', '.join(map(ast.unparse, arguments))})"
            text = f"not not {text}" if how == "truth" else text
            yield Asked(name, text, tuple(item[0] for item in known), expected, how)

    def _name(self, node: ast.expr) -> str:
        """What a call calls in the module; '' for all else."""
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name):
            return self._names.get(function.id, "")
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.attr if function.value.id in self._modules else ""
        return ""


def _is_passed_over(node: ast.stmt) -> bool:
    """What awaits an exception leaves nothing behind for the next assertion, or is no test's fault."""
    if isinstance(node, ast.With):
        return all(is_raising(item.context_expr) for item in node.items)
    return isinstance(node, ast.Pass)


def _filled(node: ast.expr, values: _Values) -> ast.expr:
    """The expression with parameters replaced by what this row has for them."""
    if not values:
        return node
    filled: ast.expr = _Filling(values).visit(copy.deepcopy(node))
    return filled


class _Filling(ast.NodeTransformer):
    def __init__(self, values: _Values) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
