"""Test bodies rewritten to calls with plain values, so that a judge needs no helpers of tests."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from greenloop.grading.inputs.programs import Input, find_observation, is_numbered
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.inputs.slots import Slot, is_observation
from greenloop.grading.peer.outcomes import Outcome
from greenloop.grading.peer.rendering import to_literal
from greenloop.syntax.names import find_stores, free_names
from greenloop.syntax.nodes import copy_tree
from greenloop.syntax.values import is_plain_value
from greenloop.testsuite.module_under_test import fill_in

_FIRST, _MAX_CHARS = 10_000, 300  # number of the first observed argument; of a written value


def observe_arguments(outcome: Outcome) -> Input | None:
    """Return an input that observes its arguments, except plain values; None for a plain call."""
    function: Any = outcome.item.node
    if outcome.item.is_call or any(isinstance(node, ast.Try) for node in function.body):
        return None
    changed: Any = copy_tree(function)
    changed.body = _fill_in_names(_cut(changed.body, outcome.at))
    for number, slot in enumerate(_list_arguments(changed), _FIRST):
        call: Any = ast.parse(f"see__({number}, 0)", mode="eval").body
        call.args[1] = slot.read()
        slot.write(call)
    return replace(outcome.item, node=ast.fix_missing_locations(changed))


def write_arguments(item: Input, answers: Sequence[Answer]) -> Input:
    """Return an input with each observed argument replaced by its value, if all answers agree."""
    written = _Writer(answers).visit(copy_tree(item.node))
    return replace(item, node=ast.fix_missing_locations(written))


def _cut(body: list[ast.stmt], last: int) -> list[ast.stmt]:
    """Return the statements up to the one with the observation `last`."""
    for at, statement in enumerate(body):
        if find_observation(statement, last):
            return body[: at + 1]
    return body


def _fill_in_names(body: list[Any]) -> list[Any]:
    """Return statements with names replaced by their values, if plain or used only once."""
    for at, statement in enumerate(body[:-1]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                later = body[at + 1 :]
                uses = sum(list(free_names(node)).count(name) for node in later)
                is_stored = any(name in find_stores(node) for node in later)
                if not is_stored and (uses == 1 or is_plain_value(ast.unparse(value))):
                    filled: list[Any] = [fill_in(node, {name: value}) for node in later]
                    return _fill_in_names([*body[:at], *filled])
    return body


def _list_arguments(tree: ast.AST) -> Iterator[Slot]:
    """Yield the places of arguments that are no plain values, only the outermost ones."""
    if isinstance(tree, ast.Call) and not is_observation(tree):
        places = [Slot(tree, "args", at) for at in range(len(tree.args))]
        places += [Slot(item, "value") for item in tree.keywords if item.arg]
        for place in places:
            node = place.read()
            if not isinstance(node, (ast.Starred, ast.Lambda)) and not _is_plain(node):
                yield place
        yield from _list_arguments(tree.func)
        return
    for child in ast.iter_child_nodes(tree):
        yield from _list_arguments(child)


def _is_plain(node: ast.AST) -> bool:
    return is_plain_value(ast.unparse(node))


class _Writer(ast.NodeTransformer):
    """Transformer that writes an observed argument's value, or its expression if values differ."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = answers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        number = getattr(node.args[0], "value", 0) if is_numbered(node) else 0
        if number < _FIRST:
            return node
        found = {to_literal(answer.load(number)) for answer in self._answers}
        text = found.pop() if len(found) == 1 else None
        is_short = text is not None and len(text) <= _MAX_CHARS
        return ast.parse(text, mode="eval").body if text and is_short else node.args[1]
