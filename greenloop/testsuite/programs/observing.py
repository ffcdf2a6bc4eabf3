"""Observation of expressions in programs, and the tests' expectations of their values."""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from typing import Any

from greenloop.syntax.names import iter_assigned
from greenloop.syntax.nodes import Definition, Function, Import, copy_tree
from greenloop.testsuite.programs.attributes import check_attributes
from greenloop.testsuite.programs.binding import find_bound, find_read_only
from greenloop.testsuite.programs.flattening import FlatTest
from greenloop.testsuite.programs.literals import is_immutable, read_value
from greenloop.testsuite.programs.records import Expectation, RefusedError
from greenloop.testsuite.programs.source import TestSource, walk_names

_OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    *(ast.BitAnd, ast.BitOr, ast.BitXor),
)
_DEFINING = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Observer:
    """Collector of a program's statements and a test's expectations."""

    def __init__(self, flat: FlatTest, source: TestSource) -> None:
        self.source, self.flat = source, flat
        self.expectations: list[Expectation] = []
        self.body: list[ast.stmt] = []
        self.caught: dict[str, int] = {}  # numbers of observed exceptions, by their names
        self._count = 0
        self._bound = find_bound(flat.statements)
        self._read_only = set(find_read_only(flat.statements))
        self._of_code = set(source.own)

    def write_input(self, node: ast.stmt) -> None:
        if isinstance(node, Import) and self.source.is_of_framework(node):
            return
        self.check_input(node)
        if self.is_of_code(node):
            self._of_code |= {*iter_assigned(node)}
            if isinstance(node, Definition):
                self._of_code.add(node.name)
        self.body.append(self._guard(node))

    def write_raising(self, node: Any, called: ast.Call, caught: ast.expr | None) -> None:
        named = {item.arg: item.value for item in called.keywords}
        classes = called.args[0] if called.args else named.get("expected_exception")
        pattern = named.get("match", called.args[1] if len(called.args) > 1 else None)
        if classes is None:
            raise RefusedError("raises without an exception class", called)
        number = self._add_number()
        outer, self.body = self.body, []
        for statement in node.body:
            self.write_input(statement)
        inner, self.body = self.body, outer
        item = ast.withitem(_call_provided("raising", ast.Constant(number)), caught)
        if caught is not None:
            self._of_code |= set(walk_names(caught))
            self.caught |= dict.fromkeys(walk_names(caught), number)
        self.body.append(ast.copy_location(ast.With([item], inner), node))
        self.expect("raises", number, classes, node)
        if pattern is not None:
            self.expect_pattern(number, pattern)

    # -- what is observed

    def _add_number(self) -> int:
        self._count += 1
        return self._count

    def observe(self, node: ast.expr) -> int:
        """Observe an expression; return the number of the observation."""
        self.check_input(node)
        number = self._add_number()
        seen = _call_provided("see", ast.Constant(number), self._guard(node))
        self.body.append(ast.copy_location(ast.Expr(seen), node))
        return number

    def expect(
        self,
        kind: str,
        number: int,
        expected: ast.expr,
        place: ast.AST,
        tolerance: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Expect the value of an expression, which is known here or observed after the answer."""
        line = getattr(place, "lineno", 0)
        if (known := self.read(expected)) or (known := self._read_class(kind, expected)):
            self.expectations.append(Expectation(line, number, kind, known[0], None, tolerance))
            return
        other = self.observe(expected)
        self.expectations.append(Expectation(line, number, kind, None, other, tolerance))

    def expect_pattern(self, number: int, pattern: ast.expr) -> None:
        if isinstance(pattern, ast.Call) and self.source.get_path(pattern.func) == "re.escape":
            kind, pattern = "has", pattern.args[0]
        else:
            kind = "match"
        if not (known := self.read(pattern)):
            raise RefusedError("a computed pattern", pattern)
        self.expectations.append(Expectation(pattern.lineno, number, f"text {kind}", known[0]))

    def _read_class(self, kind: str, node: ast.expr) -> tuple[Any, ...]:
        """Return a tuple with the name of an expected built-in class, else ()."""
        if kind in ("raises", "class") and isinstance(node, ast.Name):
            defined = self._of_code | self.source.definitions.keys() | self._bound.keys()
            is_builtin = isinstance(getattr(builtins, node.id, None), type)
            if is_builtin and node.id not in defined and self.source.get_path(node) == node.id:
                return (node.id,)
        return ()

    def read(self, node: ast.expr) -> tuple[Any, ...]:
        """Return a tuple with the value of an expression that does not need the code, else ()."""
        return read_value(node, self._look_up)

    def _look_up(self, name: str) -> ast.expr | None:
        value = self._bound.get(name)
        if value is None:
            is_local = name in self._bound or name in self._of_code
            return None if is_local else self.source.constants.get(name)
        known = read_value(value)
        return value if name in self._read_only or (known and is_immutable(known[0])) else None

    # -- what may reach the process of the code

    def is_of_code(self, node: ast.AST) -> bool:
        """Whether an expression uses the code, or a value that it has made."""
        names = set(walk_names(node))
        helpers = (self.flat.definitions.get(i) or self.source.definitions.get(i) for i in names)
        found = names | {name for item in helpers if item for name in walk_names(item)}
        return not found.isdisjoint(self._of_code)

    def check_input(self, node: ast.AST) -> None:
        """Raise RefusedError if a statement compares values of the code, or uses a framework."""
        if self.source.is_of_framework(node):
            raise RefusedError("a use of pytest or unittest", node)
        check_attributes(node, self.flat, set())
        for item in _walk_outside(node):
            if isinstance(item, (ast.Assert, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Return)):
                raise RefusedError(f"{type(item).__name__.lower()} in an expression or block", item)
            identity = (ast.Is, ast.IsNot)
            is_compared = isinstance(item, ast.Compare) and not all(
                isinstance(sign, identity) for sign in item.ops
            )
            if is_compared and self.is_of_code(node):
                raise RefusedError("a comparison in the process of the code", item)
            if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
                self._check_helper(item, self.source.definitions.get(item.func.id))
                self._check_helper(item, self.flat.definitions.get(item.func.id))

    def _check_helper(self, called: ast.Call, helper: ast.stmt | None) -> None:
        if helper is None or not isinstance(helper, Function):
            return
        compares = any(isinstance(item, (ast.Compare, ast.Assert)) for item in ast.walk(helper))
        if compares and any(self.is_of_code(item) for item in called.args):
            raise RefusedError("a helper that compares", called)
        if self.source.is_of_framework(helper):
            raise RefusedError("a helper that uses pytest", called)

    def _guard(self, node: Any) -> Any:
        """Return a node with its operators as calls, which detect operators of the code."""
        return _Guarding(self.read).visit(copy_tree(node))


class _Guarding(ast.NodeTransformer):
    """Transformer of items of known tables to their values, and of operators to calls."""

    def __init__(self, read: Callable[[ast.expr], tuple[Any, ...]]) -> None:
        self._read = read

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        known = self._read(node) if isinstance(node.ctx, ast.Load) else ()
        text = repr(known[0]) if known else ""
        if not known or re.search(r"\b(inf|nan)\b", text):
            return self.generic_visit(node)
        return ast.copy_location(ast.parse(text, mode="eval").body, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda  # type: ignore[assignment]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, _OPERATORS) or _is_literal(node):
            return node
        name = ast.Constant(type(node.op).__name__)
        return ast.copy_location(_call_provided("operate", name, node.left, node.right), node)


def _is_literal(node: ast.expr) -> bool:
    return all(
        isinstance(i, (ast.Constant, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop))
        for i in ast.walk(node)
    )


def _call_provided(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(f"{name}__", ast.Load()), list(arguments), [])


def _walk_outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside of functions and classes that a node defines."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _DEFINING) and not isinstance(node, _DEFINING):
            yield from _walk_outside(child)
