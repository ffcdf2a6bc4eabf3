"""Calls of a module with plain values in the assertions of tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from greenloop.grading.assertion_mutation.assertion_calls import is_exception_check
from greenloop.grading.assertion_mutation.operators import get_called_name
from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.grading.memorization.input_variants import generate_input_variants
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_none, read_literal
from greenloop.testsuite.module_calls import fill_in, get_member, read_imports
from greenloop.testsuite.parser import iter_tests

_SETUP_NAMES = frozenset(
    "setUp setUpClass setup_method setup_class setup setup_module setup_function".split()
)


class ExtractedCall(NamedTuple):
    """A call of the module in a test."""

    function: str  # the name that is called
    call: str  # an expression over the module's names
    arguments: tuple[object, ...]

    def build_variants(self) -> list[str]:
        """Return calls of the same function with other arguments."""
        return list(map(self.with_arguments, generate_input_variants(self.arguments)))

    def with_arguments(self, arguments: tuple[object, ...]) -> str:
        return f"{self.function}({', '.join(map(repr, arguments))})"


def extract_calls(code: str, module: str) -> list[ExtractedCall]:
    """Return the calls of one test file in order, each once; [] where it cannot be parsed.

    Of a test these are the calls in its assertions until it does anything else, as a later call may
    depend on it.
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
        for values in read_rows(
            test.decorator_list, [i.arg for i in test.args.args if i.arg != "self"]
        )
        for call in _extract_from_test(test, names, values)
    ]
    return list({item.call: item for item in found}.values())


def _is_setup(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name in _SETUP_NAMES


def _extract_from_test(
    test: Function, names: Mapping[str, str], values: Mapping[str, ast.expr]
) -> Iterator[ExtractedCall]:
    """Yield the calls of one row of a test."""
    for statement in test.body:
        if isinstance(statement, ast.Assert) or _is_assertion_method(statement):
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and (name := get_member(node.func, names)):
                    yield from _extract_call(node, name, values)
        elif not _is_skippable(statement):
            break


def _is_assertion_method(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and get_called_name(node.value).startswith("assert")


def _extract_call(
    node: ast.Call, name: str, values: Mapping[str, ast.expr]
) -> Iterator[ExtractedCall]:
    """Yield a call where all its arguments are literals; `name` is that of the module's member."""
    arguments = [fill_in(item, values) for item in node.args]
    known = [read_literal(item) for item in arguments]
    if known and all(known) and not node.keywords:
        text = f"{name}({', '.join(map(ast.unparse, arguments))})"
        yield ExtractedCall(name, text, tuple(item[0] for item in known if item))


def _is_skippable(node: ast.stmt) -> bool:
    """Whether a statement only expects an exception, so that later assertions do not depend on it."""
    if isinstance(node, ast.With):
        return all(is_exception_check(item.context_expr) for item in node.items)
    return isinstance(node, (ast.Pass, ast.Expr))
