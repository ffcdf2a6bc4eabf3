"""The statements of a test in two parts, for the process of the code and for that of the tests."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.testsuite.scenarios.assertions import block_arguments, block_kind
from greenloop.testsuite.scenarios.expressions import (
    ExpressionSplitter,
    Observation,
    check_observable,
)
from greenloop.testsuite.scenarios.nodes import expression, located, statement, tuple_of
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import (
    Function,
    Level,
    Scope,
    bound_names,
    dotted_name,
    free_names,
)
from greenloop.testsuite.scenarios.steps import Step
from greenloop.testsuite.scenarios.tables import bind_columns, judged_rows

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


class StatementSplitter:
    """Splits the statements of a test; its scope follows them."""

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
        steps = [Step(located(_observe(item), node)) for item in observations]
        taken = [statement(f"seen__{item.number} = take__({item.number})") for item in observations]
        marked = [*splitter.preparations, *taken, statement(f"at__({node.lineno})"), *judge]
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
        return self._input(node, {_root(node.value)})

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
        except RefusedError:
            return self._derive(node, names)
        self.scope.bind(names, node.value, Level.DEPENDENT)
        return made

    def _remember_literal(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)):
            self.scope.literals[target.id] = node.value

    def _derive(self, node: ast.Assign, names: set[str]) -> Halves:
        """Leave to the process of the tests what is computed from values of the code."""
        if self._expected is not None:
            raise RefusedError("a comparison that would run beside the code")
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
        call = _mutation_call(target, value)
        if not self.scope.is_dependent(call):
            return self._input(node, {_root(target)})
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
        call = _observe_call(Observation(number, value))
        self._hand_over_arguments(value)
        if self._expected is None:
            made = ast.Assign(targets, call) if targets else ast.Expr(call)
            judge = [statement(f"at__({node.lineno})"), statement(f"completed__({number})")]
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
        registers = any(map(self.scope.is_dependent, node.decorator_list))
        defines = None if registers else frozenset({node.name})
        step = Step(without_docstrings(node), defines=defines)
        return Halves([step], [node] if level is Level.INDEPENDENT else [])

    _split_AsyncFunctionDef = _split_ClassDef = _split_FunctionDef

    # -- blocks

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
        item = ast.withitem(_observe_call(Observation(number, first)), target)
        step = Step(located(type(node)([item], []), node), body=body.steps)
        return Halves([step], [located(statement(f"completed__({number})"), node), *body.judge])

    _split_AsyncWith = _split_With

    def _act_on_block(self, node: ast.stmt) -> Halves:
        """Run a block as one act."""
        found = Halves([], [])
        (number,) = self._act_as_block([node], found)
        found.judge.append(located(statement(f"completed__({number})"), node))
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
        found.judge += [located(statement(f"at__({node.lineno})"), node), located(judge, node)]
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


def define(scope: Scope, node: Function | ast.ClassDef) -> None:
    """Enter a function or class of the test file into a scope."""
    level = scope.level(node)
    parts = list(ast.walk(node))
    decides = any(isinstance(part, _DECISIONS) for part in parts)
    captured = set(free_names(node)) & scope.reachable.keys()
    rebound = {
        n for part in parts if isinstance(part, (ast.Global, ast.Nonlocal)) for n in part.names
    }
    scope.bind([node.name], node, level)
    if isinstance(node, Function) and _makes_object(scope, node):
        scope.makers.add(node.name)
    for name in rebound:
        scope.reachable.setdefault(name, set())
    if decides:
        scope.compares.add(node.name)
        if level is Level.DEPENDENT or captured or rebound:
            reason = f"{node.name}() decides something by what the code says"
            scope.refused[node.name] = reason
    if any(isinstance(part, ast.Assert) or block_kind(part) for part in parts):
        scope.refused[node.name] = f"{node.name}() asserts where it is called"


def _makes_object(scope: Scope, node: Function) -> bool:
    """Return whether a helper returns an instance of a class of the module."""
    inner = scope.copy()
    for item in ast.walk(node):
        if isinstance(item, ast.Assign) and scope.is_object(item.value):
            inner.objects |= {name for target in item.targets for name in bound_names(target)}
    last = node.body[-1]
    return isinstance(last, ast.Return) and last.value is not None and inner.is_object(last.value)


_DECISIONS = (ast.Compare, ast.BoolOp, ast.If, ast.IfExp, ast.While, ast.Try, ast.Match)


def without_docstrings(node: Function | ast.ClassDef) -> Function | ast.ClassDef:
    """Return a definition without its docstrings, as these may say what is expected."""
    changed = copy.deepcopy(node)
    for item in ast.walk(changed):
        if isinstance(item, (Function, ast.ClassDef)):
            item.body = [part for part in item.body if not _is_text(part)] or [ast.Pass()]
    return changed


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _observe(item: Observation) -> ast.stmt:
    return ast.Expr(_observe_call(item))


def _observe_call(item: Observation) -> ast.expr:
    """Return the call that evaluates an expression and reports it."""
    functions: list[ast.expr] = [ast.Constant(key) for key in item.functions]
    value, template = item.value, "observe__(_n, lambda: _v, *_f)"
    if isinstance(value, ast.Await):
        value, template = value.value, "await observe_awaited__(_n, lambda: _v, *_f)"
    if any(isinstance(part, (ast.Await, ast.Yield, ast.NamedExpr)) for part in ast.walk(value)):
        raise RefusedError("an expression that cannot stand in a lambda")
    made = expression(template, _n=ast.Constant(item.number), _v=value)
    call = made.value if isinstance(made, ast.Await) else made
    assert isinstance(call, ast.Call)
    call.args[2:] = functions
    return made


def _mutation_call(target: ast.Attribute | ast.Subscript, value: ast.expr | None) -> ast.expr:
    verb = "set" if value is not None else "del"
    if isinstance(target, ast.Attribute):
        key: ast.expr = ast.Constant(target.attr)
        function = f"{verb}attr"
    elif isinstance(target.slice, ast.Slice):
        raise RefusedError("an assignment to a slice", target.lineno)
    else:
        key, function = target.slice, f"operators__.{verb}item"
    arguments = [target.value, key, *([value] if value is not None else [])]
    return ast.Call(expression(function), arguments, [])


def _root(node: ast.AST) -> str:
    """Return the name whose object a statement may change, '' for none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def imports_of(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield all imports of a test file, also those inside of functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
