"""Protocol of edit operators.

An operator is a function of a context and a node that yields edits. The annotation of `node` gives
the node types:

    @edit_operator("negation")
    def negate(context: NodeContext, node: ast.If | ast.While) -> Iterator[TextEdit]: ...
"""

import ast
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from greenloop.syntax.nodes import NodeContext
from greenloop.syntax.source import Source, TextEdit

EditT = TypeVar("EditT", bound=TextEdit)
Proposer = Callable[[Any, Any], Iterator[EditT]]

# The comparison operators by node type, each with its sign and the sign of its opposite.
_COMPARISONS: tuple[tuple[type[ast.cmpop], str, type[ast.cmpop], str], ...] = (
    (ast.Lt, "<", ast.GtE, ">="),
    (ast.LtE, "<=", ast.Gt, ">"),
    (ast.Eq, "==", ast.NotEq, "!="),
    (ast.Is, "is", ast.IsNot, "is not"),
    (ast.In, "in", ast.NotIn, "not in"),
)
SIGNS = {kind: sign for a, one, b, other in _COMPARISONS for kind, sign in ((a, one), (b, other))}
OPPOSITES = {sign: opposite for _, a, _, b in _COMPARISONS for sign, opposite in ((a, b), (b, a))}
BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SEQUENCE_NODES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set)


@dataclass(frozen=True)
class Operator(Generic[EditT]):
    """An edit operator with its name and node types.

    `cost` is the cost of its edits as repairs: 1 for the most common ones, 0 if they are none.
    """

    name: str
    node_types: Any
    propose: Proposer[EditT]
    cost: float = 0.0

    def apply(self, context: NodeContext) -> Iterator[EditT]:
        """Return the edits that this operator proposes for a node."""
        if isinstance(context.node, self.node_types):
            return self.propose(context, context.node)
        return iter(())


def edit_operator(
    name: str = "", cost: float = 0.0
) -> Callable[[Proposer[EditT]], Operator[EditT]]:
    """Make a function an operator, for the nodes that its parameter `node` is annotated with."""

    def decorate(propose: Proposer[EditT]) -> Operator[EditT]:
        node_types = typing.get_type_hints(propose)["node"]
        return Operator(name or propose.__name__, node_types, propose, cost)

    return decorate


def list_operators(*modules: types.ModuleType) -> tuple[Operator[Any], ...]:
    """Return the operators of modules, in the order in which each defines them."""
    found = (item for module in modules for item in vars(module).values())
    return tuple(item for item in found if isinstance(item, Operator))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a chain: its operands, and its operator's sign and span."""

    left: ast.expr
    sign: str
    span: tuple[int, int]
    right: ast.expr


def iter_comparisons(source: Source, node: ast.Compare) -> Iterator[Comparison]:
    """Yield the comparisons of a chain; those whose operator is not found are left out."""
    for (left, right), operator in zip(
        pairwise([node.left, *node.comparators]), node.ops, strict=True
    ):
        span = source.find_operator_span(left, right)
        if span is not None:
            yield Comparison(left, SIGNS[type(operator)], span, right)


def get_operator_text(source: Source, left: ast.expr, right: ast.expr) -> str:
    """Return the operator between two operands; '' if it is not found."""
    span = source.find_operator_span(left, right)
    return source.text[span[0] : span[1]] if span else ""


def iter_swapped_operators(source: Source, node: ast.BoolOp) -> Iterator[tuple[int, str]]:
    """Yield for each operator of `a and b and c` its index and the text with the other one."""
    other = "or" if isinstance(node.op, ast.And) else "and"
    start, end = source.span(node)
    for index, (left, right) in enumerate(pairwise(node.values)):
        span = source.find_operator_span(left, right)
        if span is not None:
            yield index, f"({source.text[start : span[0]]}{other}{source.text[span[1] : end]})"


def get_raised_class(node: ast.Raise) -> ast.expr | None:
    """Return the exception's class in `raise E` and `raise E(…)`; None for `raise` alone."""
    return node.exc.func if isinstance(node.exc, ast.Call) else node.exc
