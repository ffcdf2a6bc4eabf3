"""The statements of a test in two parts, for the process of the code and for that of the tests"""

from __future__ import annotations

import ast

from greenloop.testsuite.scenarios.names import Function, bound_names, dotted_name, free_names
from greenloop.testsuite.scenarios.nodes import call_of, expression, located, statement, tuple_of
from greenloop.testsuite.scenarios.reading.assertions import block_arguments, block_kind
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level
from greenloop.testsuite.scenarios.splitting.calls import observe_call
from greenloop.testsuite.scenarios.splitting.expressions import ExpressionSplitter, Observation
from greenloop.testsuite.scenarios.splitting.observability import check_observable
from greenloop.testsuite.scenarios.splitting.simple_statements import (
    Halves,
    SimpleStatementSplitter,
)
from greenloop.testsuite.scenarios.splitting.steps import Step
from greenloop.testsuite.scenarios.splitting.tables import bind_columns, judged_rows


class StatementSplitter(SimpleStatementSplitter):
    """Splits all statements of a test."""

    def _split_With(self, node: ast.With | ast.AsyncWith) -> Halves:
        first = node.items[0].context_expr
        if len(node.items) > 1:
            inner = located(type(node)(node.items[1:], node.body), node)
            node = located(type(node)(node.items[:1], [inner]), node)
        if block_kind(first):
            return self._split_expectation(node)
        if dotted_name(getattr(first, "func", first)) == "subTest":
            return self.split(node.body)
        if any(isinstance(part, ast.Raise) for part in ast.walk(node)):
            return self._act_on_block(node)
        check_observable(first, self.scope)
        number, target = self.next_number(), node.items[0].optional_vars
        if target is not None:
            self.scope.bind(bound_names(target), first, Level.DEPENDENT)
        self._hand_over_arguments(first)
        body = self.split(node.body)
        item = ast.withitem(observe_call(Observation(number, first)), target)
        step = Step(located(type(node)([item], []), node), body=body.steps)
        return Halves(
            [step], [located(ast.Expr(call_of("completed__", number)), node), *body.judge]
        )

    _split_AsyncWith = _split_With

    def _act_on_block(self, node: ast.stmt) -> Halves:
        """Run a block as one act."""
        found = Halves([], [])
        (number,) = self._act_as_block([node], found)
        found.judge.append(located(ast.Expr(call_of("completed__", number)), node))
        return found

    def _split_expectation(self, node: ast.With | ast.AsyncWith) -> Halves:
        """Split `with raises(...)` and `with warns(...)`: every act in it may raise."""
        call, target = node.items[0].context_expr, node.items[0].optional_vars
        assert isinstance(call, ast.Call)
        classes, pattern = block_arguments(call)
        if self.scope.is_dependent(classes) or self.scope.is_dependent(pattern):
            raise RefusedError("an expected exception that the code gives")
        if block_kind(call) == "raises":
            found, numbers = self._split_expecting(node.body)
        else:
            before = self._count
            found = self.split(node.body)
            numbers = list(range(before + 1, self._count + 1))
        if not numbers:
            raise RefusedError("an exception that does not come from the code")
        listed = tuple_of([ast.Constant(number) for number in numbers])
        check = "raised__" if block_kind(call) == "raises" else "warned__"
        result = expression(f"{check}(_n, _c, _p)", _n=listed, _c=classes, _p=pattern)
        if target is None:
            judge: ast.stmt = ast.Expr(result)
        else:
            judge = ast.Assign([target], result)
            self.scope.bind(bound_names(target), result, Level.INDEPENDENT)
            self.scope.judge_only |= bound_names(target)
        found.judge += [located(ast.Expr(call_of("at__", node.lineno)), node), located(judge, node)]
        return found

    def _split_expecting(self, body: list[ast.stmt]) -> tuple[Halves, list[int]]:
        """Return both parts of statements that may raise, and the numbers of these observations."""
        self._expected, found = [], Halves([], [])
        try:
            for at, item in enumerate(body):
                if not isinstance(item, (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)):
                    self._expected += self._act_as_block(body[at:], found)
                    break
                found.add(self.split([item]))
            return found, self._expected
        finally:
            self._expected = None

    def _act_as_block(self, body: list[ast.stmt], found: Halves) -> list[int]:
        """Run statements as one observation, which ends where one of them raises."""
        for item in body:
            check_observable(item, self.scope)
            if any(isinstance(part, ast.Assert) for part in ast.walk(item)):
                raise RefusedError("an assertion where an exception is expected", item.lineno)
        number, label = self.next_number(), f"block__{self._count}"
        is_async = any(
            isinstance(part, (ast.Await, ast.AsyncWith, ast.AsyncFor))
            for item in body
            for part in ast.walk(item)
        )
        function = statement(f"{'async ' if is_async else ''}def {label}(): pass")
        assert isinstance(function, Function)
        function.body = body
        self._hand_over_arguments(function)
        call = f"{'await observe_awaited__' if is_async else 'observe__'}({number}, {label})"
        found.steps += [
            Step(located(function, body[0]), defines=frozenset({label})),
            Step(located(statement(call), body[0])),
        ]
        return [number]

    def _split_For(self, node: ast.For) -> Halves:
        if node.orelse:
            raise RefusedError("for with else")
        names = bound_names(node.target)
        if self.scope.is_dependent(node.iter):
            return self._loop_over_values(node, names)
        level = self.scope.copy()
        for _ in range(2):  # what the first round hands over is dependent in the second
            bind_columns(self.scope, node.target, node.iter)
            rows = judged_rows(node.target, node.iter, self.scope)
            count = self._count
            body = self.split(node.body)
            if self.scope.levels == level.levels:
                break
            level = self.scope.copy()
            self._count = count
        made = located(ast.For(node.target, rows, body.judge or [ast.Pass()], []), node)
        step = Step(located(ast.For(node.target, node.iter, [], []), node), body=body.steps)
        return Halves([step], [made])

    def _loop_over_values(self, node: ast.For, names: set[str]) -> Halves:
        """Loop over values of the code in the process of the tests, if the loop asserts."""
        if not any(isinstance(part, (ast.Assert, ast.With, ast.Raise)) for part in ast.walk(node)):
            return self._act_on_block(node)
        splitter = ExpressionSplitter(self.scope, self.next_number)
        iterated = splitter.split_iterable(node.iter)
        self.scope.bind(names, iterated, Level.INDEPENDENT)
        self.scope.judge_only |= names
        body = self.split(node.body)
        if any(step.defines is None for step in body.steps):
            raise RefusedError("a loop over values of the code that calls it")
        made = located(ast.For(node.target, iterated, body.judge or [ast.Pass()], []), node)
        return self._observed(splitter, [made], node)

    def _split_If(self, node: ast.If) -> Halves:
        if self.scope.level(node.test) or set(free_names(node.test)) & self.scope.judge_only:
            raise RefusedError("a decision by what the code says")
        body, other = self.split(node.body), self.split(node.orelse)
        judge = located(ast.If(node.test, body.judge or [ast.Pass()], other.judge), node)
        step = Step(located(ast.If(node.test, [], []), node), body=body.steps)
        inverse = expression("not _t", _t=node.test)
        otherwise = Step(located(ast.If(located(inverse, node), [], []), node), body=other.steps)
        return Halves([step, otherwise], [judge])

    def _split_While(self, node: ast.While) -> Halves:
        if self.scope.level(node) is not Level.INDEPENDENT:
            raise RefusedError("a decision by what the code says")
        return self._input(node, bound_names(node))

    def _split_Try(self, node: ast.Try) -> Halves:
        if node.handlers or node.orelse:
            raise RefusedError("try with except")
        return self.split([*node.body, *node.finalbody])
