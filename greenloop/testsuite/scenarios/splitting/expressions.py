"""An expression in two parts: what the process of the code observes, and the rest of it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import NamedTuple

from greenloop.testsuite.scenarios.names import (
    Comprehension,
    bound_names,
    children,
    free_names,
    get_dotted_name,
)
from greenloop.testsuite.scenarios.nodes import (
    as_target,
    call_of,
    copy_unplaced,
    expression,
    name,
    tuple_of,
)
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Level, Scope
from greenloop.testsuite.scenarios.splitting.definitions import check_observable
from greenloop.testsuite.scenarios.splitting.functions import (
    DIVISIBLE,
    ITERATING_FUNCTIONS,
    OBSERVED_FUNCTIONS,
    REFLECTIVE_FUNCTIONS,
    VALUE_METHODS,
)
from greenloop.testsuite.scenarios.splitting.steps import add_uses
from greenloop.testsuite.scenarios.splitting.tables import project_table


class Observation(NamedTuple):
    """An expression that the process of the code evaluates and reports under a number."""

    number: int
    value: ast.expr
    functions: tuple[str, ...] = ()


class ExpressionSplitter:
    """Splits the expressions of one statement; `observations` are those found so far."""

    def __init__(
        self, scope: Scope, next_number: Callable[[], int], *, is_nested: bool = False
    ) -> None:
        self._scope, self._next_number, self._is_nested = scope, next_number, is_nested
        self.observations: list[Observation] = []

    def split(self, node: ast.expr) -> ast.expr:
        """Return the expression that the process of the tests evaluates.

        Raises:
            RefusedError: it would compare, or decide something, in the process of the code.
        """
        if not self._scope.is_dependent(node):
            return node
        if isinstance(node, Comprehension):
            return self._split_comprehension(node)
        if isinstance(node, ast.Compare):
            return self._split_comparison(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.split_truth(node)
        if self.is_answer(node):
            return self._observe(node)
        if isinstance(node, ast.Call):
            return self._split_call(node)
        if isinstance(node, DIVISIBLE):
            return self._split_children(node)
        raise RefusedError(f"{type(node).__name__} with values of the code", node.lineno)

    def split_truth(self, node: ast.expr) -> ast.expr:
        """Return the expression for something of which only the truth value is asked."""
        if isinstance(node, ast.BoolOp):
            values = [self.split_truth(item) for item in node.values]
            return ast.BoolOp(node.op, values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.split_truth(node.operand))
        if self._scope.is_dependent(node) and self.is_answer(node):
            return self._observe(node, "bool")
        return self.split(node)

    def split_iterable(self, node: ast.expr) -> ast.expr:
        """Return the expression for something that is iterated over."""
        is_seen = self.is_answer(node) or self._scope.gives_object(node)
        if self._scope.level(node) > Level.INDEPENDENT and is_seen:
            return self._observe(node, "iterable")
        return self.split(node)

    def _split_children(self, node: ast.expr) -> ast.expr:
        changed = copy.copy(node)
        for key, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(changed, key, self.split(value))
            elif isinstance(value, list):
                parts = [self.split(item) if isinstance(item, ast.expr) else item for item in value]
                setattr(changed, key, parts)
        return changed

    def _split_comparison(self, node: ast.Compare) -> ast.expr:
        """Leave records to the process of the tests where the code gives what they are compared to."""
        if function := self._find_observed_comparison(node):
            whole = expression(f"operators__.{function}", _a=node.left, _b=node.comparators[0])
            seen = self._observe(ast.copy_location(whole, node))
            is_opposite = isinstance(node.ops[0], (ast.NotIn, ast.IsNot))
            return ast.UnaryOp(ast.Not(), seen) if is_opposite else seen
        operands = [node.left, *node.comparators]
        stand_ins = [self._scope.level(item, records=True) < Level.DEPENDENT for item in operands]
        if all(stand_ins):
            stand_ins = [self._scope.level(item) is Level.INDEPENDENT for item in operands]
        made = [
            item if stands_in else self._split_whole(item)
            for item, stands_in in zip(operands, stand_ins, strict=True)
        ]
        return ast.Compare(made[0], node.ops, made[1:])

    def _find_observed_comparison(self, node: ast.Compare) -> str:
        """Return the function by which a comparison is observed as a whole, '' for most.

        Members of an object of the module are asked of it, as by a method, and two things that are
        compared by identity may both be objects, which do not cross.
        """
        right = node.comparators[0]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return "contains(_b, _a)" if self._scope.is_object(right) else ""
        are_both = self._scope.is_dependent(node.left) and self._scope.is_dependent(right)
        is_identity = isinstance(node.ops[0], (ast.Is, ast.IsNot)) and len(node.ops) == 1
        return "is_(_a, _b)" if is_identity and are_both else ""

    def _split_whole(self, node: ast.expr) -> ast.expr:
        """Split an expression; one that has a stand-in is observed all the same."""
        return (self._observe if self._scope.level(node) is Level.SYMBOLIC else self.split)(node)

    def is_answer(self, node: ast.expr) -> bool:
        """Return whether a dependent expression is observed as a whole, as an answer of the code."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Await)):
            return True
        if isinstance(node, ast.Subscript):
            root = get_dotted_name(node.value).partition(".")[0]
            is_class = self._scope.symbol(get_dotted_name(node.value)) != ""
            if is_class or root in self._scope.process_modules:
                return True
        if isinstance(node, (ast.BinOp, ast.Subscript, ast.UnaryOp)):
            return any(map(self._scope.is_object, children(node)))
        return isinstance(node, ast.Call) and self._is_call_of_code(node)

    def _is_call_of_code(self, node: ast.Call) -> bool:
        function = node.func
        if get_dotted_name(function) in REFLECTIVE_FUNCTIONS:
            return True
        if not isinstance(function, ast.Attribute):
            return self._scope.level(function) > Level.INDEPENDENT
        if self._scope.level(function.value) is Level.INDEPENDENT:
            return False
        is_module = self._scope.imported.get(get_dotted_name(function.value)) == ""
        is_class = self._scope.symbol(get_dotted_name(function.value)) != ""
        if is_module or is_class or self._scope.is_object(function.value):
            return True
        return function.attr not in VALUE_METHODS

    def _split_call(self, node: ast.Call) -> ast.expr:
        called = get_dotted_name(node.func)
        is_single = len(node.args) == 1 and not node.keywords
        if called in OBSERVED_FUNCTIONS and is_single and self.is_answer(node.args[0]):
            return self._observe(node.args[0], called)
        if self._scope.gives_object(node):
            return self._observe(node)
        if called == "issubclass" and len(node.args) > 1:
            arguments: list[ast.expr] = [self._observe(node.args[0]), *node.args[1:]]
            return ast.Call(node.func, arguments, [])
        compares = called in ("max", "min") and len(node.args) > 1
        is_iterating = called in ITERATING_FUNCTIONS and not compares
        split = self.split_iterable if is_iterating else self.split
        function = node.func
        if isinstance(function, ast.Attribute):
            split = self.split_iterable if function.attr == "join" else self.split
            function = ast.Attribute(self.split(function.value), function.attr, ast.Load())
        keywords = [ast.keyword(item.arg, self.split(item.value)) for item in node.keywords]
        return ast.Call(function, [split(item) for item in node.args], keywords)

    # -- observations

    def _observe(self, node: ast.expr, *functions: str) -> ast.expr:
        check_observable(node, self._scope)
        number = self._next_number()
        self.observations.append(Observation(number, node, functions))
        if self._is_nested:
            seen: ast.expr = name(f"seen__{number}")
            made = expression(f"{functions[0]}(_seen)", _seen=seen) if functions else seen
            return seen if functions == ("iterable",) else made
        return call_of(f"seen__{number}", *functions)

    def _split_comprehension(self, node: ast.expr) -> ast.expr:
        """Observe the parts of each element that the code gives, as one list of tuples."""
        assert isinstance(node, Comprehension)
        inner, is_seen = self._scope.copy(), False
        for item in node.generators:
            is_seen = is_seen or inner.level(item.iter) > Level.INDEPENDENT
            inner.bind(bound_names(item.target), item.iter, Level.INDEPENDENT)
        conditions = [test for item in node.generators for test in item.ifs]
        selects = any(map(inner.is_dependent, conditions))
        if (conditions and is_seen) or (selects and inner.is_dependent(getattr(node, "elt", node))):
            raise RefusedError("a comprehension that selects by what the code says", node.lineno)
        if isinstance(node, ast.DictComp) or any(item.is_async for item in node.generators):
            raise RefusedError(f"{type(node).__name__} with values of the code", node.lineno)
        generators = [copy.copy(item) for item in node.generators]
        for item in generators:
            item.ifs = [] if selects else item.ifs
            if is_seen:
                inner.levels |= dict.fromkeys(bound_names(item.target), Level.DEPENDENT)
        splitter = ExpressionSplitter(inner, self._next_number, is_nested=True)
        tests = [splitter.split_truth(item) for item in conditions] if selects else []
        element = splitter.split(node.elt)
        seen = tuple_of([name(f"seen__{item.number}") for item in splitter.observations])
        observed, number = tuple_of([i.value for i in splitter.observations]), self._next_number()
        answers: ast.expr = call_of(f"seen__{number}")
        if not is_seen:  # the process of the tests goes through the same elements
            own = tuple_of(
                [name(i) for part in generators for i in sorted(bound_names(part.target))]
            )
            elements = ast.ListComp(own, list(map(copy_unplaced, generators)))  # inputs
            answers = ast.Call(name("zip"), [answers, elements], [])
            seen = tuple_of([seen, own])
            self._project_generators(generators, observed)
        self.observations.append(Observation(number, ast.ListComp(observed, generators)))
        return type(node)(element, [ast.comprehension(as_target(seen), answers, tests, 0)])

    def _project_generators(self, generators: list[ast.comprehension], observed: ast.expr) -> None:
        """Leave in the tables of a comprehension what the observed parts of its elements use.

        Raises:
            RefusedError: it selects by another part, or the parts are not known.
        """
        literals, uses = self._scope.literals, dict[str, "frozenset[object] | None"]()
        add_uses(observed, uses, literals)
        for item in reversed(generators):
            selecting = {name for test in item.ifs for name in free_names(test)} - uses.keys()
            if selecting & bound_names(item.target):
                raise RefusedError("a comprehension that selects by what is expected")
            item.iter = project_table(item.target, item.iter, uses, literals)
            add_uses(item.iter, uses, literals)
