"""Simple statements of a test in two parts"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from greenloop.testsuite.scenarios.names import Function, bound_names, dotted_name, free_names
from greenloop.testsuite.scenarios.nodes import call_of, located
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope
from greenloop.testsuite.scenarios.splitting.calls import (
    mutation_call,
    observe,
    observe_call,
    root_name,
)
from greenloop.testsuite.scenarios.splitting.definitions import define, without_docstrings
from greenloop.testsuite.scenarios.splitting.expressions import ExpressionSplitter, Observation
from greenloop.testsuite.scenarios.splitting.observability import check_observable
from greenloop.testsuite.scenarios.splitting.steps import Step

_ENDING_CALLS = frozenset("pytest.fail pytest.skip pytest.xfail fail skipTest".split())


@dataclass
class Halves:
    """The two parts of some statements."""

    steps: list[Step]
    judge: list[ast.stmt]

    def add(self, other: Halves) -> None:
        """Append other statements to both parts."""
        self.steps += other.steps
        self.judge += other.judge


class SimpleStatementSplitter:
    """Splits the simple statements of a test; its scope follows them."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._count = 0
        self._is_top_level = True
        self._expected: list[int] | None = None  # the acts that may raise

    def next_number(self) -> int:
        """Return the number of the next observation."""
        self._count += 1
        return self._count

    def split(self, body: list[ast.stmt]) -> Halves:
        """Return both parts of a list of statements.

        Raises:
            RefusedError: one of them cannot be observed.
        """
        found = Halves([], [])
        for node in self._without_return(body):
            method = getattr(self, f"_split_{type(node).__name__}", None)
            if method is None:
                raise RefusedError(f"{type(node).__name__} statement", node.lineno)
            try:
                found.add(method(node))
            except RefusedError as error:
                raise RefusedError(error.reason, error.line or node.lineno) from None
        return found

    def _without_return(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements without a `return` at the end of the test."""
        is_test, self._is_top_level = self._is_top_level, False
        last = body[-1] if body else None
        return body[:-1] if is_test and isinstance(last, ast.Return) else body

    # -- assertions

    def _split_Assert(self, node: ast.Assert) -> Halves:
        splitter = ExpressionSplitter(self.scope, self.next_number)
        test = splitter.split_truth(node.test)
        checked = located(ast.Assert(test), node)
        return self._observed(splitter, [checked], node)

    def _observed(
        self, splitter: ExpressionSplitter, judge: list[ast.stmt], node: ast.stmt
    ) -> Halves:
        """Return observations, and what the process of the tests does with all of them."""
        observations = splitter.observations
        for item in observations:
            self._hand_over_arguments(item.value)
        steps = [Step(located(observe(item), node)) for item in observations]
        taken = [_take(item.number) for item in observations]
        marked = [*splitter.preparations, *taken, ast.Expr(call_of("at__", node.lineno)), *judge]
        return Halves(steps, [located(item, node) for item in marked])

    def _hand_over_arguments(self, value: ast.AST) -> None:
        for item in ast.walk(value):
            if isinstance(item, ast.Call):
                self.scope.hand_over(item)

    # -- simple statements

    def _split_Pass(self, node: ast.Pass) -> Halves:
        return Halves([], [])

    def _split_Expr(self, node: ast.Expr) -> Halves:
        called = dotted_name(node.value.func) if isinstance(node.value, ast.Call) else ""
        if called in _ENDING_CALLS:
            raise RefusedError(f"{called}()")
        if self.scope.is_dependent(node.value):
            return self._act(node.value, None, node)
        return self._input(node, {root_name(node.value)})

    def _split_Assign(self, node: ast.Assign) -> Halves:
        names = {name for target in node.targets for name in bound_names(target)}
        for target in node.targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                return self._split_mutation(target, node.value, node)
        if not self.scope.is_dependent(node.value):
            self.scope.bind(names, node.value)
            self._remember_literal(node)
            return self._input(node, names)
        try:
            made = self._act(node.value, node.targets, node)
        except RefusedError as error:
            return self._derive(node, names, error)
        self.scope.bind(names, node.value, Level.DEPENDENT)
        return made

    def _remember_literal(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)):
            self.scope.literals[target.id] = node.value

    def _derive(self, node: ast.Assign, names: set[str], refusal: RefusedError) -> Halves:
        """Leave to the process of the tests what is computed from values of the code."""
        if self._expected is not None or isinstance(node.value, ast.Await):
            raise refusal
        splitter = ExpressionSplitter(self.scope, self.next_number)
        value = splitter.split(node.value)
        self.scope.bind(names, value, Level.INDEPENDENT)
        self.scope.judge_only |= names
        made = located(ast.Assign(node.targets, value), node)
        return self._observed(splitter, [made], node)

    def _split_AnnAssign(self, node: ast.AnnAssign) -> Halves:
        if node.value is None:
            return Halves([], [])
        return self._split_Assign(located(ast.Assign([node.target], node.value), node))

    def _split_AugAssign(self, node: ast.AugAssign) -> Halves:
        current = copy.copy(node.target)
        current.ctx = ast.Load()
        value = located(ast.BinOp(current, node.op, node.value), node)
        return self._split_Assign(located(ast.Assign([node.target], value), node))

    def _split_Delete(self, node: ast.Delete) -> Halves:
        found = Halves([], [])
        for target in node.targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                found.add(self._split_mutation(target, None, node))
            elif isinstance(target, ast.Name) and self.scope.is_dependent(target):
                found.steps.append(Step(located(ast.Delete([target]), node)))
        return found

    def _split_mutation(
        self, target: ast.Attribute | ast.Subscript, value: ast.expr | None, node: ast.stmt
    ) -> Halves:
        """Split an assignment to a part of an object, or its deletion."""
        call = mutation_call(target, value)
        if not self.scope.is_dependent(call):
            return self._input(node, {root_name(target)})
        self.scope.hand_over(target.value)
        return self._act(located(call, node), None, node)

    def _input(self, node: ast.stmt, names: set[str]) -> Halves:
        """Keep a statement in both parts: in the scenario where something there needs it."""
        is_shared = not (set(free_names(node)) & self.scope.judge_only)
        steps = [Step(node, defines=frozenset(names))] if is_shared else []
        if not is_shared:
            self.scope.judge_only |= {item for item in names if item}
        return Halves(steps, [node])

    def _act(self, value: ast.expr, targets: list[ast.expr] | None, node: ast.stmt) -> Halves:
        """Evaluate an expression in the process of the code; the tests check that it did not raise."""
        check_observable(value, self.scope)
        number = self.next_number()
        call = observe_call(Observation(number, value))
        self._hand_over_arguments(value)
        if self._expected is None:
            made = ast.Assign(targets, call) if targets else ast.Expr(call)
            judge = [
                ast.Expr(call_of("at__", node.lineno)),
                ast.Expr(call_of("completed__", number)),
            ]
            return Halves([Step(located(made, node))], [located(item, node) for item in judge])
        self._expected.append(number)
        is_name = targets and isinstance(
            targets[0], ast.Name
        )  # others cannot be bound if it raises
        made = ast.Assign(targets, call) if targets and is_name else ast.Expr(call)
        return Halves([Step(located(made, node))], [])

    def _split_FunctionDef(self, node: Function | ast.ClassDef) -> Halves:
        level = self.scope.level(node)
        define(self.scope, node)
        outside = [*node.decorator_list, *getattr(node, "bases", [])]
        registers = any(self.scope.level(item) > Level.INDEPENDENT for item in outside)
        if registers:
            for item in (*node.decorator_list, ast.Name(node.name, ast.Load())):
                self.scope.hand_over(item)
        defines = None if registers else frozenset({node.name})
        step = Step(without_docstrings(node), defines=defines)
        return Halves([step], [node] if level is Level.INDEPENDENT else [])

    _split_AsyncFunctionDef = _split_ClassDef = _split_FunctionDef


def _take(number: int) -> ast.stmt:
    """Return the statement by which the process of the tests takes an observation."""
    return ast.Assign([ast.Name(f"seen__{number}", ast.Store())], call_of("take__", number))
