"""Assertions changed so that they must fail where they passed: the constant, else the operator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.grading.assertion_mutation.literals import far, far_members, literal, near
from greenloop.syntax.source import Splice, Text

_FLIPPED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_SMALL = 1000  # a tolerance that no number far away is within
_BELOW, _ABOVE = 'float("-inf")', 'float("inf")'
# What a value on the left must be compared with so that the comparison is false for every number.
_IMPOSSIBLE: dict[type[ast.cmpop], str] = {
    ast.Lt: _BELOW,
    ast.LtE: _BELOW,
    ast.Gt: _ABOVE,
    ast.GtE: _ABOVE,
}


@dataclass(frozen=True)
class Change:
    """One change after which an assertion that passed must fail.

    With `of_value` it may still pass if the value is one that equals, contains or outranks
    everything; `value` is then what was asked of the code, `expected` what it was held against,
    `opposite` the assertion's opposite, and `wider` a change to an expected value of another type.
    `renames` says that the test's id changes with it.
    """

    splices: tuple[Splice, ...]
    said: str
    of_value: bool = False
    value: ast.expr | None = None
    expected: ast.expr | None = None
    opposite: Splice | None = None
    wider: Splice | None = None
    renames: bool = False


class Assertions:
    """The changes of one test file's assertions. `own` are names that stand for the tested module."""

    def __init__(self, text: Text, own: frozenset[str]) -> None:
        self._text, self._own = text, own

    def changes(self, test: ast.expr) -> Iterator[Change]:
        """The changes of `assert test`; none where it asserts a constant."""
        if not any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(test)):
            return
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for part in test.values:
                yield from self.changes(part)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inside = f"({self._text.of(test.operand)})"
            yield Change((self._text.replaced(test, inside),), f"assert {inside}")
        else:
            yield self._compared(_compared(test)) or self._negated(test)

    def equal(self, left: ast.expr, right: ast.expr) -> Change:
        """The change of an expected equality, in the constant if there is one."""
        expected, value = self._sides(left, right)
        wider = self._text.replaced(expected, f"({self._text.of(expected)}, 0)")
        other = _approximate(expected) or near(expected)
        splice = self._text.replaced(expected, other) if other else wider
        said = f"expects {splice.text}"
        return Change((splice,), said, True, value, expected, wider=wider)

    def _sides(self, left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Which of two is expected, and which is the code's: by how much of the code is in them."""
        if self._weight(left) < self._weight(right):
            return left, right
        return right, left

    def _weight(self, node: ast.expr) -> int:
        if literal(node):
            return 0
        if any(isinstance(item, ast.Name) and item.id in self._own for item in ast.walk(node)):
            return 4
        called = any(isinstance(item, (ast.Call, ast.Await)) for item in ast.walk(node))
        return 1 if _approximate(node) else 3 if called else 2

    def _compared(self, node: ast.expr) -> Change | None:
        if not isinstance(node, ast.Compare):
            return None
        change = self._in_chain(node) if len(node.ops) > 1 else self._single(node)
        if change is None or not change.of_value:
            return change
        opposite = self._text.replaced(node, f"not ({self._text.of(node)})")
        return Change(**{**vars(change), "opposite": opposite})

    def _single(self, node: ast.Compare) -> Change | None:
        left, operator, right = node.left, node.ops[0], node.comparators[0]
        if isinstance(operator, ast.Eq):
            return self.equal(left, right)
        if isinstance(operator, ast.In):
            return self._member(left, right) or self._flipped(node)
        if type(operator) in _FLIPPED:
            return self._flipped(node)
        return self._ordered(left, operator, right)

    def _member(self, left: ast.expr, right: ast.expr) -> Change | None:
        if other := far(left):
            splice, value = self._text.replaced(left, other), right
        elif other := far_members(right):
            splice, value = self._text.replaced(right, other), left
        else:
            return None
        return Change((splice,), f"expects {other}", True, value)

    def _close(self, left: ast.expr, bound: ast.expr) -> Change | None:
        """`abs(value - 2.0) < 0.1` with another number: what is near to both is no number."""
        if not (isinstance(left, ast.Call) and _name_of(left) == "abs" and len(left.args) == 1):
            return None
        limit = literal(bound)
        if not limit or not isinstance(limit[0], (int, float)) or limit[0] > _SMALL:
            return None
        difference = left.args[0]
        if not (isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub)):
            return None
        expected, value = self._sides(difference.left, difference.right)
        other = far(expected) if _is_number(expected) and self._weight(value) > 2 else None
        if other is None:
            return None
        splice = self._text.replaced(expected, f"({other})")
        return Change((splice,), f"expects {other}", True, value, expected)

    def _ordered(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Change | None:
        if isinstance(operator, (ast.Lt, ast.LtE)) and (change := self._close(left, right)):
            return change
        for side, value, bound in (
            (right, left, _IMPOSSIBLE[type(operator)]),
            (left, right, _BELOW if isinstance(operator, (ast.Gt, ast.GtE)) else _ABOVE),
        ):
            if _is_number(side):
                splice = self._text.replaced(side, bound)
                return Change((splice,), f"expects {bound}", True, value)
        return None

    def _in_chain(self, node: ast.Compare) -> Change | None:
        left, operator, right = node.comparators[-2], node.ops[-1], node.comparators[-1]
        if isinstance(operator, ast.Eq) and (other := near(right)):
            return Change((self._text.replaced(right, other),), f"expects {other}", True, left)
        if type(operator) in _IMPOSSIBLE and _is_number(right):
            return self._ordered(left, operator, right)
        return None

    def _flipped(self, node: ast.Compare) -> Change:
        left, right = self._text.of(node.left), self._text.of(node.comparators[0])
        said = f"({left}) {_FLIPPED[type(node.ops[0])]} ({right})"
        identity = isinstance(node.ops[0], (ast.Is, ast.IsNot))
        splice = self._text.replaced(node, said)
        return Change((splice,), f"assert {said}", not identity, node.left)

    def _negated(self, test: ast.expr) -> Change:
        said = f"not ({self._text.of(test)})"
        return Change((self._text.replaced(test, said),), f"assert {said}")


def _compared(test: ast.expr) -> ast.expr:
    """What `all(… for …)` says of each; else the expression itself."""
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "all"
        and len(test.args) == 1
        and isinstance(test.args[0], (ast.GeneratorExp, ast.ListComp))
        and isinstance(test.args[0].elt, ast.Compare)
    ):
        return test.args[0].elt
    return test


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_number(node: ast.expr) -> bool:
    value = literal(node)
    return bool(value) and isinstance(value[0], (int, float)) and not isinstance(value[0], bool)


def _approximate(node: ast.expr) -> str | None:
    """`approx(3.0, …)` with another number; None for all else."""
    name = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not node.args:
        return None
    if (name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")) != "approx":
        return None
    other = far(node.args[0])
    if other is None:
        return None
    changed = ast.parse(ast.unparse(node), mode="eval").body
    assert isinstance(changed, ast.Call)
    changed.args[0] = ast.parse(other, mode="eval").body
    return ast.unparse(changed)
