"""Calls with plain values in tests, and their expected answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from greenloop.grading.assertion_mutation.assertion_calls import is_exception_check
from greenloop.grading.assertion_mutation.operators import get_called_name
from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none, read_literal
from greenloop.testsuite.module_calls import fill_in, get_member, read_imports
from greenloop.testsuite.parser import is_test_class

ComparisonKind = Literal["equal", "near", "truth"]
_SETUP_NAMES = frozenset(
    "setUp setUpClass setup_method setup_class setup setup_module setup_function".split()
)
_UNITTEST_METHODS: dict[str, ComparisonKind] = {
    "assertEqual": "equal",
    "assertAlmostEqual": "near",
    "assertTrue": "truth",
    "assertFalse": "truth",
    "assertIs": "equal",
}
_ParameterValues = Mapping[str, ast.expr]
_EQUALITY_ARGUMENT_COUNT = 2


@dataclass(frozen=True)
class ExtractedCall:
    """A call of the module in a test, and its expected answer."""

    function: str  # the name that is called
    call: str  # an expression over the module's names
    arguments: tuple[object, ...]
    expected: object
    comparison: ComparisonKind  # how the answer has to be like `expected`


def extract_calls(code: str, module: str) -> list[ExtractedCall]:
    """Return the calls of one test file in order, each once; [] where it cannot be parsed.

    Tests that do anything else are left out, as a call may depend on it.
    """
    tree = parse_or_none(code)
    if tree is None or "autouse" in code or any(_is_setup(node) for node in tree.body):
        return []
    reader = _CallExtractor(tree, module)
    found = [item for test in _find_tests(tree.body) for item in reader.extract(test)]
    return list({(item.call, item.comparison): item for item in found}.values())


def _is_setup(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name in _SETUP_NAMES


def _find_tests(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and is_test_class(node):
            if not any(map(_is_setup, node.body)):
                yield from _find_tests(node.body)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node


class _CallExtractor:
    """Extracts calls from assertions, given the file's names for the module and its members."""

    def __init__(self, tree: ast.Module, module: str) -> None:
        self._names = read_imports(tree, module)

    def extract(self, test: ast.FunctionDef) -> Iterator[ExtractedCall]:
        wanted = [item.arg for item in test.args.args if item.arg != "self"]
        for values in read_rows(test.decorator_list, wanted):
            for statement in test.body:
                if isinstance(statement, ast.Assert):
                    yield from self._extract_from_condition(statement.test, values)
                elif isinstance(statement, ast.Expr):
                    yield from self._extract_from_method(statement.value, values)
                elif not _is_skippable(statement):
                    break

    def _extract_from_method(
        self, node: ast.expr, values: _ParameterValues
    ) -> Iterator[ExtractedCall]:
        how = _UNITTEST_METHODS.get(get_called_name(node))
        if not isinstance(node, ast.Call) or how is None or not node.args:
            return
        if how == "truth":
            negated = ast.UnaryOp(ast.Not(), node.args[0])
            yield from self._extract_from_condition(
                node.args[0] if get_called_name(node) == "assertTrue" else negated, values
            )
        elif len(node.args) == _EQUALITY_ARGUMENT_COUNT:
            yield from self._extract_from_equality(node.args[0], node.args[1], how, values)

    def _extract_from_condition(
        self, test: ast.expr, values: _ParameterValues
    ) -> Iterator[ExtractedCall]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._extract_call(test.operand, False, "truth", values)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._extract_from_comparison(test, values)
        elif (
            get_called_name(test) == "isclose" and isinstance(test, ast.Call) and len(test.args) > 1
        ):
            yield from self._extract_from_equality(test.args[0], test.args[1], "near", values)
        else:
            yield from self._extract_call(test, True, "truth", values)

    def _extract_from_comparison(
        self, test: ast.Compare, values: _ParameterValues
    ) -> Iterator[ExtractedCall]:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.Is)):
            yield from self._extract_from_equality(left, right, "equal", values)
        elif isinstance(operator, (ast.Lt, ast.LtE)) and get_called_name(left) == "abs":
            inner = left.args[0] if isinstance(left, ast.Call) and left.args else None
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
                yield from self._extract_from_equality(inner.left, inner.right, "near", values)

    def _extract_from_equality(
        self, left: ast.expr, right: ast.expr, comparison: ComparisonKind, values: _ParameterValues
    ) -> Iterator[ExtractedCall]:
        for call, expected in ((left, right), (right, left)):
            if (
                isinstance(expected, ast.Call)
                and get_called_name(expected) == "approx"
                and expected.args
            ):
                expected, comparison = expected.args[0], "near"
            known = read_literal(fill_in(expected, values))
            if known:
                yield from self._extract_call(call, known[0], comparison, values)
                return

    def _extract_call(
        self, node: ast.expr, expected: object, comparison: ComparisonKind, values: _ParameterValues
    ) -> Iterator[ExtractedCall]:
        if not isinstance(node, ast.Call) or node.keywords or not node.args:
            return
        if not (name := get_member(node.func, self._names)):
            return
        arguments = [fill_in(item, values) for item in node.args]
        known = [read_literal(item) for item in arguments]
        if all(known):
            text = f"{name}({', '.join(map(ast.unparse, arguments))})"
            text = f"not not {text}" if comparison == "truth" else text
            yield ExtractedCall(name, text, tuple(item[0] for item in known), expected, comparison)


def _is_skippable(node: ast.stmt) -> bool:
    """Whether a statement only expects an exception, so that later assertions do not depend on it."""
    if isinstance(node, ast.With):
        return all(is_exception_check(item.context_expr) for item in node.items)
    return isinstance(node, ast.Pass)
