"""Calls with plain values in tests, and their expected answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from greenloop.grading.assertion_mutation.assertion_calls import is_exception_check
from greenloop.grading.assertion_mutation.operators import get_called_name
from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.grading.memorization.input_variants import generate_input_variants
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none, read_literal
from greenloop.testsuite.module_calls import fill_in, get_member, read_imports
from greenloop.testsuite.parser import iter_tests

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
_EQUALITY_ARGUMENT_COUNT = 2


@dataclass(frozen=True)
class ExtractedCall:
    """A call of the module in a test, and its expected answer."""

    function: str  # the name that is called
    call: str  # an expression over the module's names
    arguments: tuple[object, ...]
    expected: object
    comparison: ComparisonKind  # how the answer has to be like `expected`

    def build_variants(self) -> list[str]:
        """Return calls of the same function with other arguments."""
        return list(map(self.with_arguments, generate_input_variants(self.arguments)))

    def with_arguments(self, arguments: tuple[object, ...]) -> str:
        return f"{self.function}({', '.join(map(repr, arguments))})"


def extract_calls(code: str, module: str) -> list[ExtractedCall]:
    """Return the calls of one test file in order, each once; [] where it cannot be parsed.

    Tests that do anything else are left out, as a call may depend on it.
    """
    tree = parse_or_none(code)
    if tree is None or "autouse" in code or any(_is_setup(node) for node in tree.body):
        return []
    names = read_imports(tree, module)
    found = [
        call
        for test, classes in iter_tests(tree.body)
        if isinstance(test, ast.FunctionDef)
        if not any(_is_setup(node) for item in classes for node in item.body)
        for values in read_rows(test.decorator_list, _list_parameters(test))
        for call in _CallExtractor(names, values).extract(test)
    ]
    return list({(item.call, item.comparison): item for item in found}.values())


def _is_setup(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name in _SETUP_NAMES


def _list_parameters(test: Function) -> list[str]:
    return [item.arg for item in test.args.args if item.arg != "self"]


@dataclass(frozen=True)
class _CallExtractor:
    """Extracts calls from the assertions of one row of a test."""

    names: Mapping[str, str]  # what the file calls the module and its members
    values: Mapping[str, ast.expr]  # of the test's parameters

    def extract(self, test: Function) -> Iterator[ExtractedCall]:
        for statement in test.body:
            if isinstance(statement, ast.Assert):
                yield from self._extract_from_condition(statement.test)
            elif isinstance(statement, ast.Expr):
                yield from self._extract_from_method(statement.value)
            elif not _is_skippable(statement):
                break

    def _extract_from_method(self, node: ast.expr) -> Iterator[ExtractedCall]:
        name = get_called_name(node)
        how = _UNITTEST_METHODS.get(name)
        if not isinstance(node, ast.Call) or how is None or not node.args:
            return
        if how == "truth":
            negated = ast.UnaryOp(ast.Not(), node.args[0])
            yield from self._extract_from_condition(
                node.args[0] if name == "assertTrue" else negated
            )
        elif len(node.args) == _EQUALITY_ARGUMENT_COUNT:
            yield from self._extract_from_equality(node.args[0], node.args[1], how)

    def _extract_from_condition(self, test: ast.expr) -> Iterator[ExtractedCall]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._extract_call(test.operand, False, "truth")
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._extract_from_comparison(test)
        elif (
            get_called_name(test) == "isclose" and isinstance(test, ast.Call) and len(test.args) > 1
        ):
            yield from self._extract_from_equality(test.args[0], test.args[1], "near")
        else:
            yield from self._extract_call(test, True, "truth")

    def _extract_from_comparison(self, test: ast.Compare) -> Iterator[ExtractedCall]:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.Is)):
            yield from self._extract_from_equality(left, right, "equal")
        elif isinstance(operator, (ast.Lt, ast.LtE)) and get_called_name(left) == "abs":
            inner = left.args[0] if isinstance(left, ast.Call) and left.args else None
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
                yield from self._extract_from_equality(inner.left, inner.right, "near")

    def _extract_from_equality(
        self, left: ast.expr, right: ast.expr, comparison: ComparisonKind
    ) -> Iterator[ExtractedCall]:
        for call, expected in ((left, right), (right, left)):
            if get_called_name(expected) == "approx" and getattr(expected, "args", None):
                expected, comparison = expected.args[0], "near"  # type: ignore[attr-defined]
            if known := read_literal(fill_in(expected, self.values)):
                yield from self._extract_call(call, known[0], comparison)
                return

    def _extract_call(
        self, node: ast.expr, expected: object, comparison: ComparisonKind
    ) -> Iterator[ExtractedCall]:
        if not isinstance(node, ast.Call) or node.keywords or not node.args:
            return
        if not (name := get_member(node.func, self.names)):
            return
        arguments = [fill_in(item, self.values) for item in node.args]
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
