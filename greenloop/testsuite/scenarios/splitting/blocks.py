"""Blocks of statements that may raise, of which only that is asked"""

from __future__ import annotations

import ast
import itertools

from greenloop.testsuite.scenarios.names import bound_names, walk
from greenloop.testsuite.scenarios.nodes import build_function, expression
from greenloop.testsuite.scenarios.reading.assertions import block_arguments, block_kind
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope
from greenloop.testsuite.scenarios.splitting.calls import mark
from greenloop.testsuite.scenarios.splitting.definitions import check_observable, check_undecided
from greenloop.testsuite.scenarios.splitting.steps import Halves, Step

_MAY_RAISE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)


class BlockSplitter:
    """Splits blocks; its scope follows the statements that a subclass splits."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._count = 0
        self._expected: list[int] | None = None  # the acts that may raise

    def split(self, body: list[ast.stmt]) -> Halves:
        """Return both parts of a list of statements. Raises RefusedError."""
        raise NotImplementedError

    def _next_number(self) -> int:
        self._count += 1
        return self._count

    def _split_expectation(self, node: ast.With | ast.AsyncWith) -> Halves:
        """Split `with raises(...)` and `with warns(...)`: every act in it may raise."""
        call, target = node.items[0].context_expr, node.items[0].optional_vars
        assert isinstance(call, ast.Call)
        classes, pattern = block_arguments(call)
        before = self._count
        if block_kind(call) == "raises":
            found, numbers = self._split_raising(node.body)
        else:
            found = self.split(node.body)
            numbers = list(range(before + 1, self._count + 1))
        if not numbers:
            raise RefusedError("an exception that does not come from the code")
        check = f"{'raised' if block_kind(call) == 'raises' else 'warned'}__({(*numbers,)}, _c, _p)"
        result = expression(check, _c=classes, _p=pattern)
        judge = ast.Assign([target], result) if target is not None else ast.Expr(result)
        if target is not None:
            self.scope.bind(bound_names(target), result, Level.INDEPENDENT)
            self.scope.judge_only |= bound_names(target)
        return Halves(found.steps, [*found.judge, mark(node), judge])

    def _split_raising(self, body: list[ast.stmt]) -> tuple[Halves, list[int]]:
        """Return both parts of statements that may raise, and the numbers of these observations."""
        simple = list(itertools.takewhile(lambda item: isinstance(item, _MAY_RAISE), body))
        self._expected = []
        try:
            found, numbers = self.split(simple), self._expected
        finally:
            self._expected = None
        if len(simple) < len(body):
            numbers.append(self._act_as_block(body[len(simple) :], found))
        return found, numbers

    def _act_as_block(self, body: list[ast.stmt], found: Halves) -> int:
        """Run statements as one observation, which ends where one of them raises."""
        nodes = [part for item in body for part in walk(item)]
        check_undecided(nodes)
        number, label = self._next_number(), f"block__{self._count}"
        is_async = any(isinstance(part, (ast.Await, ast.AsyncWith, ast.AsyncFor)) for part in nodes)
        call = f"{'await observe_awaited__' if is_async else 'observe__'}({number}, {label})"
        function = build_function(label, [], body, is_async=is_async)
        for item in body:
            check_observable(item, self.scope)
        self.scope.hand_over_arguments(function)
        found.steps += [
            Step(function, defines=frozenset({label})),
            Step(ast.Expr(expression(call))),
        ]
        return number
