"""Operators of assertion mutation, which change the constant, or else the comparison."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from greenloop.grading.assertion_mutation.literals import (
    change_literal,
    change_literal_far,
    change_members_far,
)
from greenloop.syntax.nodes import get_last_name
from greenloop.syntax.operators.protocol import OPPOSITES, SIGNS
from greenloop.syntax.parse import read_literal
from greenloop.syntax.source import Source, TextEdit

_MAX_TOLERANCE = 1000  # larger tolerances might include a far number
_UNORDERED = 'float("nan")'  # makes a comparison false for every number on the other side
_NEGATIVE_INFINITY, _POSITIVE_INFINITY = 'float("-inf")', 'float("inf")'
# Left and right operands that make a comparison false for every number but the infinite ones. They
# are tried on a value with an order of its own: its `>=` may be `not <`, which holds for NaN.
_UNSATISFIABLE_BOUNDS: dict[type[ast.cmpop], tuple[str, str]] = {
    **dict.fromkeys((ast.Lt, ast.LtE), (_POSITIVE_INFINITY, _NEGATIVE_INFINITY)),
    **dict.fromkeys((ast.Gt, ast.GtE), (_NEGATIVE_INFINITY, _POSITIVE_INFINITY)),
}


@dataclass(frozen=True, slots=True)
class AssertionChange:
    """One change after which an assertion that passed must fail."""

    edits: tuple[TextEdit, ...]
    description: str
    actual: ast.expr | None = None  # of the code; may honestly equal, contain or exceed all
    expected: ast.expr | None = None  # what `actual` is compared with
    opposite: TextEdit | None = None  # the assertion's opposite
    other_type: TextEdit | None = None  # to an expected value of another type or rule
    changes_test_id: bool = False
    is_swap: bool = False  # to another test's answer
    exception: ast.expr | None = None  # the class that is expected
    is_bound: bool = False  # of an order: only what exceeds all passes with `other_type` too
    is_input: bool = False  # of a container: only one with its own rule has the other value, too


class AssertionMutator:
    """Mutator of one test file's assertions; `module_names` are the file's names for the module."""

    def __init__(self, source: Source, module_names: frozenset[str]) -> None:
        self._source, self._module_names = source, module_names

    def generate_changes(self, test: ast.expr) -> Iterator[AssertionChange]:
        """Yield changes of `assert test`; none if it asserts a constant."""
        if not any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(test)):
            return
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                yield from self.generate_changes(part)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield self._assert_instead(test, f"({self._source.get_segment(test.operand)})")
        else:
            yield self._change_members(test) or self._change_comparison(test) or self._negate(test)

    def change_equality(self, left: ast.expr, right: ast.expr) -> AssertionChange:
        """Return the change of an expected equality, in the constant if there is one."""
        expected, value = self._identify_sides(left, right)
        longer = f"({self._source.get_segment(expected)}, 0)"
        other = _change_approx(expected) or change_literal(expected) or longer
        other_type = self._source.replace_node(expected, longer)
        change = self._expect(expected, other, value)
        return replace(change, expected=expected, other_type=other_type)

    def _expect(self, node: ast.expr, other: str, actual: ast.expr) -> AssertionChange:
        edit = self._source.replace_node(node, other)
        return AssertionChange((edit,), f"expects {other}", actual)

    def _assert_instead(self, node: ast.expr, text: str) -> AssertionChange:
        return AssertionChange((self._source.replace_node(node, text),), f"assert {text}")

    def _negate(self, test: ast.expr) -> AssertionChange:
        return self._assert_instead(test, f"not ({self._source.get_segment(test)})")

    def _identify_sides(self, left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Return (expected, actual): the side that depends less on the code is expected."""
        if self._weigh_operand(left) < self._weigh_operand(right):
            return left, right
        return right, left

    def _weigh_operand(self, node: ast.expr) -> int:
        if read_literal(node):
            return 0
        nodes = list(ast.walk(node))
        if any(isinstance(item, ast.Name) and item.id in self._module_names for item in nodes):
            return 4
        called = any(isinstance(item, (ast.Call, ast.Await)) for item in nodes)
        return 1 if _change_approx(node) else 3 if called else 2

    def _change_members(self, test: ast.expr) -> AssertionChange | None:
        """Return a change in `all(… for …)`; its opposite negates all of it, as `all([])` holds."""
        compared = _find_compared_members(test)
        if compared is None or (change := self._change_comparison(compared)) is None:
            return None
        opposite = self._negate(test).edits[0]
        other = change.other_type if change.is_bound else None
        return AssertionChange(
            change.edits,
            change.description,
            opposite=opposite,
            other_type=other,
            is_bound=change.is_bound,
        )

    def _change_comparison(self, node: ast.expr) -> AssertionChange | None:
        if not isinstance(node, ast.Compare):
            return None
        left, right = [node.left, *node.comparators][-2:]
        operator = node.ops[-1]
        change: AssertionChange | None
        if len(node.ops) > 1:
            change = self._change_chained_comparison(left, operator, right)
        elif isinstance(operator, ast.Eq):
            change = self.change_equality(left, right)
        elif isinstance(operator, ast.In):
            change = self._change_membership(left, right) or self._flip_operator(node)
        elif type(operator) in _UNSATISFIABLE_BOUNDS:
            change = self._change_ordering(left, operator, right)
        else:
            change = self._flip_operator(node)
        if change is None or change.actual is None:
            return change
        return replace(change, opposite=self._negate(node).edits[0])

    def _change_chained_comparison(
        self, left: ast.expr, operator: ast.cmpop, right: ast.expr
    ) -> AssertionChange | None:
        """Return a change of the last comparison."""
        if isinstance(operator, ast.Eq):
            other = change_literal(right)
            return self._expect(right, other, left) if other else None
        is_bound = type(operator) in _UNSATISFIABLE_BOUNDS and _is_number(right)
        return self._change_ordering(left, operator, right) if is_bound else None

    def _change_membership(self, left: ast.expr, right: ast.expr) -> AssertionChange | None:
        if other := change_literal_far(left):
            is_text = isinstance(read_literal(left)[0], (str, bytes))
            return replace(self._expect(left, other, right), is_input=not is_text)
        other = change_members_far(right)
        return self._expect(right, other, left) if other else None

    def _change_ordering(
        self, left: ast.expr, operator: ast.cmpop, right: ast.expr
    ) -> AssertionChange | None:
        small = isinstance(operator, (ast.Lt, ast.LtE))
        if small and (change := self._change_tolerance(left, right)):
            return change
        for_left, for_right = _UNSATISFIABLE_BOUNDS[type(operator)]
        for bound, actual, other in ((right, left, for_right), (left, right, for_left)):
            if _is_number(bound):
                change = self._expect(bound, _UNORDERED, actual)
                other_type = self._source.replace_node(bound, other)
                return replace(change, other_type=other_type, is_bound=True)
        return None

    def _change_tolerance(self, left: ast.expr, bound: ast.expr) -> AssertionChange | None:
        """Return `abs(value - 2.0) < 0.1` with a far number; no value is near both."""
        difference = _get_only_argument(left, "abs")
        limit = read_literal(bound)
        if not limit or not isinstance(limit[0], (int, float)) or limit[0] > _MAX_TOLERANCE:
            return None
        if not (isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub)):
            return None
        expected, value = self._identify_sides(difference.left, difference.right)
        other = change_literal_far(expected)
        if other is None or not _is_number(expected) or self._weigh_operand(value) <= 2:
            return None
        return replace(self._expect(expected, f"({other})", value), expected=expected)

    def _flip_operator(self, node: ast.Compare) -> AssertionChange:
        left, right = map(self._source.get_segment, (node.left, node.comparators[0]))
        sign = OPPOSITES[SIGNS[type(node.ops[0])]]
        change = self._assert_instead(node, f"({left}) {sign} ({right})")
        identity = isinstance(node.ops[0], (ast.Is, ast.IsNot))
        return change if identity else replace(change, actual=node.left)


def get_called_name(node: ast.AST | None) -> str:
    """Return the last name of a called function: `raises` of `pytest.raises(…)`; else ''."""
    return get_last_name(node) if isinstance(node, ast.Call) else ""


def _get_only_argument(node: ast.expr, name: str) -> ast.expr | None:
    """Return the only argument of a call of the built-in `name`; None for other nodes."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != name or len(node.args) != 1:
        return None
    return node.args[0]


def _find_compared_members(test: ast.expr) -> ast.expr | None:
    """Return the comparison in `all(… for …)`; None for other expressions."""
    members = _get_only_argument(test, "all")
    if not isinstance(members, (ast.GeneratorExp, ast.ListComp)):
        return None
    return members.elt if isinstance(members.elt, ast.Compare) else None


def _is_number(node: ast.expr) -> bool:
    value = read_literal(node)
    return bool(value) and isinstance(value[0], (int, float)) and not isinstance(value[0], bool)


def _change_approx(node: ast.expr) -> str | None:
    """Return `approx(3.0, …)` with a far number; None for other nodes."""
    if not isinstance(node, ast.Call) or get_called_name(node) != "approx" or not node.args:
        return None
    other = change_literal_far(node.args[0])
    if other is None:
        return None
    first = ast.parse(other, mode="eval").body
    return ast.unparse(ast.Call(node.func, [first, *node.args[1:]], node.keywords))
