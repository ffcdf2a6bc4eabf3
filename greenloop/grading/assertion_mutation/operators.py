"""Operators of assertion mutation: the constant is changed, else the comparison."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.grading.assertion_mutation.literals import (
    change_literal,
    change_literal_far,
    change_members_far,
    parse_literal,
)
from greenloop.syntax.edit import TextEdit
from greenloop.syntax.source import Source

_NEGATED_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_MAX_TOLERANCE = 1000  # larger tolerances might include a far number
_NEGATIVE_INFINITY, _POSITIVE_INFINITY = 'float("-inf")', 'float("inf")'
# Right sides with which a comparison is false for every number on the left.
_UNSATISFIABLE_BOUNDS: dict[type[ast.cmpop], str] = {
    ast.Lt: _NEGATIVE_INFINITY,
    ast.LtE: _NEGATIVE_INFINITY,
    ast.Gt: _POSITIVE_INFINITY,
    ast.GtE: _POSITIVE_INFINITY,
}


@dataclass(frozen=True)
class AssertionChange:
    """One change after which an assertion that passed must fail.

    With `depends_on_value` it may still pass if the value equals, contains or outranks everything;
    `actual` is then the value of the code, `expected` what it is compared with, `opposite` the
    assertion's opposite, and `other_type` a change to an expected value of another type.
    """

    edits: tuple[TextEdit, ...]
    description: str
    depends_on_value: bool = False
    actual: ast.expr | None = None
    expected: ast.expr | None = None
    opposite: TextEdit | None = None
    other_type: TextEdit | None = None
    changes_test_id: bool = False


class AssertionMutator:
    """Changes the assertions of one test file; `module_names` are its names of the module."""

    def __init__(self, source: Source, module_names: frozenset[str]) -> None:
        self._source, self._module_names = source, module_names

    def generate_changes(self, test: ast.expr) -> Iterator[AssertionChange]:
        """Yield changes of `assert test`; none where it asserts a constant."""
        if not any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(test)):
            return
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                yield from self.generate_changes(part)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            operand = f"({self._source.get_segment(test.operand)})"
            yield AssertionChange((self._source.replace_node(test, operand),), f"assert {operand}")
        else:
            yield self._change_members(test) or self._change_comparison(test) or self._negate(test)

    def change_equality(self, left: ast.expr, right: ast.expr) -> AssertionChange:
        """Return the change of an expected equality, in the constant if there is one."""
        expected, value = self._identify_sides(left, right)
        other_type = self._source.replace_node(
            expected, f"({self._source.get_segment(expected)}, 0)"
        )
        other = _change_approx(expected) or change_literal(expected)
        edit = self._source.replace_node(expected, other) if other else other_type
        text = f"expects {edit.text}"
        return AssertionChange((edit,), text, True, value, expected, other_type=other_type)

    def _identify_sides(self, left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Return (expected, actual): the side that depends less on the code is expected."""
        if self._weigh_operand(left) < self._weigh_operand(right):
            return left, right
        return right, left

    def _weigh_operand(self, node: ast.expr) -> int:
        if parse_literal(node):
            return 0
        if any(
            isinstance(item, ast.Name) and item.id in self._module_names for item in ast.walk(node)
        ):
            return 4
        called = any(isinstance(item, (ast.Call, ast.Await)) for item in ast.walk(node))
        return 1 if _change_approx(node) else 3 if called else 2

    def _change_members(self, test: ast.expr) -> AssertionChange | None:
        """Return a change in `all(… for …)`; its opposite is outside, as both hold for no member."""
        compared = _find_compared_members(test)
        if compared is None or (change := self._change_comparison(compared)) is None:
            return None
        opposite = self._negate(test).edits[0]
        return AssertionChange(change.edits, change.description, opposite=opposite)

    def _change_comparison(self, node: ast.expr) -> AssertionChange | None:
        if not isinstance(node, ast.Compare):
            return None
        change = (
            self._change_chained_comparison(node)
            if len(node.ops) > 1
            else self._change_single_comparison(node)
        )
        if change is None or not change.depends_on_value:
            return change
        opposite = self._source.replace_node(node, f"not ({self._source.get_segment(node)})")
        return AssertionChange(**{**vars(change), "opposite": opposite})

    def _change_single_comparison(self, node: ast.Compare) -> AssertionChange | None:
        left, operator, right = node.left, node.ops[0], node.comparators[0]
        if isinstance(operator, ast.Eq):
            return self.change_equality(left, right)
        if isinstance(operator, ast.In):
            return self._change_membership(left, right) or self._flip_operator(node)
        if type(operator) in _NEGATED_OPERATORS:
            return self._flip_operator(node)
        return self._change_ordering(left, operator, right)

    def _change_membership(self, left: ast.expr, right: ast.expr) -> AssertionChange | None:
        if other := change_literal_far(left):
            edit, value = self._source.replace_node(left, other), right
        elif other := change_members_far(right):
            edit, value = self._source.replace_node(right, other), left
        else:
            return None
        return AssertionChange((edit,), f"expects {other}", True, value)

    def _change_tolerance(self, left: ast.expr, bound: ast.expr) -> AssertionChange | None:
        """Return `abs(value - 2.0) < 0.1` with a far number; no value is near both."""
        if not (
            isinstance(left, ast.Call) and _get_called_name(left) == "abs" and len(left.args) == 1
        ):
            return None
        limit = parse_literal(bound)
        if not limit or not isinstance(limit[0], (int, float)) or limit[0] > _MAX_TOLERANCE:
            return None
        difference = left.args[0]
        if not (isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub)):
            return None
        expected, value = self._identify_sides(difference.left, difference.right)
        other = (
            change_literal_far(expected)
            if _is_number(expected) and self._weigh_operand(value) > 2
            else None
        )
        if other is None:
            return None
        edit = self._source.replace_node(expected, f"({other})")
        return AssertionChange((edit,), f"expects {other}", True, value, expected)

    def _change_ordering(
        self, left: ast.expr, operator: ast.cmpop, right: ast.expr
    ) -> AssertionChange | None:
        if isinstance(operator, (ast.Lt, ast.LtE)) and (
            change := self._change_tolerance(left, right)
        ):
            return change
        for side, value, bound in (
            (right, left, _UNSATISFIABLE_BOUNDS[type(operator)]),
            (
                left,
                right,
                (
                    _NEGATIVE_INFINITY
                    if isinstance(operator, (ast.Gt, ast.GtE))
                    else _POSITIVE_INFINITY
                ),
            ),
        ):
            if _is_number(side):
                edit = self._source.replace_node(side, bound)
                return AssertionChange((edit,), f"expects {bound}", True, value)
        return None

    def _change_chained_comparison(self, node: ast.Compare) -> AssertionChange | None:
        left, operator, right = node.comparators[-2], node.ops[-1], node.comparators[-1]
        if isinstance(operator, ast.Eq) and (other := change_literal(right)):
            return AssertionChange(
                (self._source.replace_node(right, other),), f"expects {other}", True, left
            )
        if type(operator) in _UNSATISFIABLE_BOUNDS and _is_number(right):
            return self._change_ordering(left, operator, right)
        return None

    def _flip_operator(self, node: ast.Compare) -> AssertionChange:
        left, right = self._source.get_segment(node.left), self._source.get_segment(
            node.comparators[0]
        )
        text = f"({left}) {_NEGATED_OPERATORS[type(node.ops[0])]} ({right})"
        identity = isinstance(node.ops[0], (ast.Is, ast.IsNot))
        edit = self._source.replace_node(node, text)
        return AssertionChange((edit,), f"assert {text}", not identity, node.left)

    def _negate(self, test: ast.expr) -> AssertionChange:
        text = f"not ({self._source.get_segment(test)})"
        return AssertionChange((self._source.replace_node(test, text),), f"assert {text}")


def _find_compared_members(test: ast.expr) -> ast.expr | None:
    """Return the comparison in `all(… for …)`; None for other expressions."""
    if (
        isinstance(test, ast.Call)
        and _get_called_name(test) == "all"
        and len(test.args) == 1
        and isinstance(test.args[0], (ast.GeneratorExp, ast.ListComp))
        and isinstance(test.args[0].elt, ast.Compare)
    ):
        return test.args[0].elt
    return None


def _get_called_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_number(node: ast.expr) -> bool:
    value = parse_literal(node)
    return bool(value) and isinstance(value[0], (int, float)) and not isinstance(value[0], bool)


def _change_approx(node: ast.expr) -> str | None:
    """Return `approx(3.0, …)` with a far number; None for other nodes."""
    name = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not node.args:
        return None
    if (name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")) != "approx":
        return None
    other = change_literal_far(node.args[0])
    if other is None:
        return None
    changed = ast.parse(ast.unparse(node), mode="eval").body
    assert isinstance(changed, ast.Call)
    changed.args[0] = ast.parse(other, mode="eval").body
    return ast.unparse(changed)
