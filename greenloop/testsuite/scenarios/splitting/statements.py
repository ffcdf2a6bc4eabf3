"""The statements of a test in two parts, for the process of the code and for that of the tests"""

from __future__ import annotations

import ast
import copy

from greenloop.testsuite.scenarios.names import (
    Function,
    bound_names,
    free_names,
    get_dotted_name,
    walk,
)
from greenloop.testsuite.scenarios.nodes import call_of, locate_like
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level
from greenloop.testsuite.scenarios.splitting.blocks import BlockSplitter
from greenloop.testsuite.scenarios.splitting.calls import (
    calls_in_output,
    mark,
    mutation_call,
    observe_call,
    order_as_call,
    root_name,
    take,
)
from greenloop.testsuite.scenarios.splitting.definitions import (
    check_observable,
    define,
    without_docstrings,
)
from greenloop.testsuite.scenarios.splitting.expressions import ExpressionSplitter, Observation
from greenloop.testsuite.scenarios.splitting.steps import Halves, Step, join_halves
from greenloop.testsuite.scenarios.splitting.tables import bind_columns, build_judged_rows

_TABLES = (ast.List, ast.Tuple, ast.Dict, ast.Call)


class StatementSplitter(BlockSplitter):
    """Splits the statements of a test; its scope follows them."""

    def split(self, body: list[ast.stmt]) -> Halves:
        """Return both parts of a list of statements.

        Raises:
            RefusedError: one of them cannot be observed.
        """
        parts: list[Halves] = []
        for node in body:
            method = getattr(self, f"_split_{type(node).__name__}", None)
            if method is None:
                raise RefusedError(f"{type(node).__name__} statement", node.lineno)
            try:
                made = method(node)
            except RefusedError as error:
                raise RefusedError(error.reason, error.line or node.lineno) from None
            for item in (*(step.node for step in made.steps), *made.judge):
                ast.copy_location(item, node)  # as `ast.unparse` needs it
            parts.append(made)
        return join_halves(parts)

    def _split_Pass(self, node: ast.Pass) -> Halves:
        return Halves([], [])

    def _split_Assert(self, node: ast.Assert) -> Halves:
        splitter = ExpressionSplitter(self.scope, self._next_number)
        test = splitter.split_truth(node.test)
        observations = splitter.observations
        for item in observations:
            self.scope.hand_over_arguments(item.value)
        steps = [Step(ast.Expr(observe_call(item))) for item in observations]
        taken = [take(item.number) for item in observations]
        return Halves(steps, [*taken, mark(node), ast.Assert(test)])

    def _split_Expr(self, node: ast.Expr) -> Halves:
        if (calls := calls_in_output(node.value, self.scope)) is not None:
            return join_halves(self._act(item, None, node) for item in calls)
        if self.scope.is_dependent(node.value):
            return self._act(order_as_call(node.value, self.scope, self._expected), None, node)
        return self._input(node, {root_name(node.value)})

    def _split_Assign(self, node: ast.Assign) -> Halves:
        target, value = node.targets[0], node.value
        names = {name for item in node.targets for name in bound_names(item)}
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return self._split_mutation(target, value, node)
        if self.scope.is_dependent(value):
            made = self._act(value, node.targets, node)
            self.scope.bind(names, value, Level.DEPENDENT)
            return made
        if any(map(_takes_out, walk(value))):
            raise RefusedError("a value of which only a part is an input", node.lineno)
        self.scope.bind(names, value)
        if isinstance(target, ast.Name) and isinstance(value, _TABLES):
            self.scope.literals[target.id] = value
        if isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            define(self.scope, target.id, value)
        return self._input(node, names)

    def _split_AnnAssign(self, node: ast.AnnAssign) -> Halves:
        if node.value is None:
            return Halves([], [])
        return self._split_Assign(locate_like(ast.Assign([node.target], node.value), node))

    def _split_AugAssign(self, node: ast.AugAssign) -> Halves:
        current = copy.copy(node.target)
        current.ctx = ast.Load()
        value = locate_like(ast.BinOp(current, node.op, node.value), node)
        return self._split_Assign(locate_like(ast.Assign([node.target], value), node))

    def _split_Delete(self, node: ast.Delete) -> Halves:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, (ast.Attribute, ast.Subscript)):
            return self._split_mutation(target, None, node)
        return Halves([Step(node)], [])

    def _split_mutation(
        self, target: ast.Attribute | ast.Subscript, value: ast.expr | None, node: ast.stmt
    ) -> Halves:
        """Split an assignment to a part of an object, or its deletion."""
        call = locate_like(mutation_call(target, value), node)
        if not self.scope.is_dependent(call):
            return self._input(node, {root_name(target)})
        self.scope.hand_over(target.value)
        return self._act(call, None, node)

    def _input(self, node: ast.stmt, names: set[str]) -> Halves:
        """Keep a statement in both parts: in the scenario where something there needs it."""
        if set(free_names(node)) & self.scope.judge_only:
            self.scope.judge_only |= {item for item in names if item}
            return Halves([], [node])
        return Halves([Step(node, defines=frozenset(names))], [node])

    def _act(self, value: ast.expr, targets: list[ast.expr] | None, node: ast.stmt) -> Halves:
        """Evaluate an expression in the process of the code; the tests check that it did not raise."""
        check_observable(value, self.scope)
        number = self._next_number()
        call = observe_call(Observation(number, value))
        self.scope.hand_over_arguments(value)
        if self._expected is not None:  # other targets cannot be bound if it raises
            self._expected.append(number)
            targets = targets if targets and isinstance(targets[0], ast.Name) else None
        step = Step(ast.Assign(targets, call) if targets else ast.Expr(call))
        checked = [mark(node), ast.Expr(call_of("completed__", number))]
        return Halves([step], checked if self._expected is None else [])

    def _split_FunctionDef(self, node: Function | ast.ClassDef) -> Halves:
        define(self.scope, node.name, node)
        outside = [*node.decorator_list, *getattr(node, "bases", [])]
        registers = any(self.scope.level(item) > Level.INDEPENDENT for item in outside)
        if registers:
            for item in (*node.decorator_list, ast.Name(node.name, ast.Load())):
                self.scope.hand_over(item)
        step = Step(without_docstrings(node), None if registers else frozenset({node.name}))
        return Halves([step], [] if self.scope.level(node) else [node])

    _split_AsyncFunctionDef = _split_ClassDef = _split_FunctionDef

    def _split_With(self, node: ast.With | ast.AsyncWith) -> Halves:
        first, target = node.items[0].context_expr, node.items[0].optional_vars
        if len(node.items) > 1:
            inner = locate_like(type(node)(node.items[1:], node.body), node)
            node = locate_like(type(node)(node.items[:1], [inner]), node)
        if block_kind(first):
            return self._split_expectation(node)
        if get_dotted_name(getattr(first, "func", first)) == "subTest":
            return self.split(node.body)
        if any(isinstance(part, ast.Raise) for part in walk(node)):
            found = Halves([], [])
            found.judge.append(ast.Expr(call_of("completed__", self._act_as_block([node], found))))
            return found
        check_observable(first, self.scope)
        number = self._next_number()
        if target is not None:
            self.scope.bind(bound_names(target), first, Level.DEPENDENT)
        self.scope.hand_over_arguments(first)
        body = self.split(node.body)
        item = ast.withitem(observe_call(Observation(number, first)), target)
        step = Step(locate_like(type(node)([item], []), node), body=body.steps)
        return Halves([step], [ast.Expr(call_of("completed__", number)), *body.judge])

    _split_AsyncWith = _split_With

    def _split_For(self, node: ast.For) -> Halves:
        if node.orelse or self.scope.is_dependent(node.iter):
            raise RefusedError("a loop over values of the code")
        before = self.scope.copy()
        for _ in range(2):  # what the first round hands over is dependent in the second
            bind_columns(self.scope, node.target, node.iter)
            rows, count = build_judged_rows(node.target, node.iter, self.scope), self._count
            body = self.split(node.body)
            if self.scope.levels == before.levels:
                break
            before, self._count = self.scope.copy(), count
        step = Step(ast.For(node.target, node.iter, [], []), body=body.steps)
        return Halves([step], [ast.For(node.target, rows, body.judge or [ast.Pass()], [])])


def _takes_out(node: ast.AST) -> bool:
    """Whether a node takes something out of a container of the test, which the code may get then."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in ("pop", "popitem", "popleft")
