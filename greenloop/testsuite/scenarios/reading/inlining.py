"""Helpers and fixtures written out where they are used, so that a test is one list of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from greenloop.testsuite.scenarios.names import Function
from greenloop.testsuite.scenarios.nodes import copy_node, located, name
from greenloop.testsuite.scenarios.records import RefusedError


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self._names.get(node.name, node.name)
        self.generic_visit(node)
        return node


def inline_call(
    function: Function, call: ast.Call, target: ast.expr | None, number: int
) -> list[ast.stmt]:
    """Return the statements of a call of a helper, whose result is assigned to `target`.

    Raises:
        RefusedError: the helper returns from within a block, or its arguments cannot be matched.
    """
    body, arguments = [*map(copy_node, function.body)], _match_arguments(function, call)
    result: ast.expr = ast.Constant(None)
    if isinstance(body[-1], ast.Return):
        result = body[-1].value or result
        body = body[:-1]
    if any(isinstance(node, (ast.Return, ast.Yield)) for item in body for node in _own_nodes(item)):
        raise RefusedError("a helper that returns from within a block", call.lineno)
    made: list[ast.stmt] = [
        ast.Assign([ast.Name(key, ast.Store())], value) for key, value in arguments.items()
    ]
    renaming = _rename_locals(function, arguments, str(number))
    made = [located(_rename_target(item, renaming), call) for item in made]
    made += [renaming.visit(item) for item in body]
    if target is not None:
        made.append(located(ast.Assign([target], renaming.visit(copy_node(result))), call))
    return made


def _rename_locals(
    function: Function, arguments: Iterable[str], suffix: str, kept: Iterable[str] = ()
) -> _Renaming:
    local = set(arguments)
    for item in function.body:
        local |= {node.id for node in _own_nodes(item) if _is_store(node)}  # type: ignore[attr-defined]
        local |= {node.name for node in _own_nodes(item) if isinstance(node, Function)}
    return _Renaming({key: f"{key}__{suffix}" for key in local - set(kept)})


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _rename_target(node: ast.stmt, renaming: _Renaming) -> ast.stmt:
    """Rename the target of an argument's assignment, whose value is the caller's."""
    if isinstance(node, ast.Assign):
        node.targets = [renaming.visit(item) for item in node.targets]
    return node


def _own_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a statement without those inside the functions that it defines."""
    found = [node]
    if not isinstance(node, (Function, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            found += _own_nodes(child)
    return found


def _match_arguments(function: Function, call: ast.Call) -> dict[str, ast.expr]:
    given, spec = list(call.args), function.args
    names = [
        item.arg for item in (*spec.posonlyargs, *spec.args) if item.arg not in ("self", "cls")
    ]
    is_plain = not (spec.vararg or spec.kwarg) and len(given) <= len(names)
    if not is_plain or any(isinstance(item, ast.Starred) for item in given):
        raise RefusedError("a helper with a variable number of arguments", call.lineno)
    defaults: dict[str, ast.expr] = {}
    if spec.defaults:
        defaults = dict(zip(names[-len(spec.defaults) :], spec.defaults, strict=True))
    only = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    defaults |= {item.arg: value for item, value in only if value is not None}
    defaults |= dict(zip(names, given, strict=False))
    defaults |= {item.arg: item.value for item in call.keywords if item.arg is not None}
    wanted = [*names, *(item.arg for item in spec.kwonlyargs)]
    if set(defaults) != set(wanted):
        raise RefusedError("a helper whose arguments cannot be matched", call.lineno)
    return {key: defaults[key] for key in wanted}


def wrap_in_fixture(fixture: Function, bound_to: str, inner: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a fixture with those that use it in the place of its `yield`.

    Raises:
        RefusedError: the fixture returns or yields in more than one place.
    """
    used = {item.arg for item in fixture.args.args}
    used |= {item.name for item in fixture.body if isinstance(item, Function)}  # seen as __name__
    renaming = _rename_locals(fixture, (), bound_to, used)
    body = [renaming.visit(item) for item in map(copy_node, fixture.body)]
    exits = [node for item in body for node in _own_nodes(item) if isinstance(node, _EXITS)]
    if not exits:
        return [*body, _bind(bound_to, ast.Constant(None), fixture), *inner]
    if len(exits) > 1 or isinstance(exits[0], ast.YieldFrom):
        raise RefusedError(f"fixture {bound_to} with several results", fixture.lineno)
    value = exits[0].value or ast.Constant(None)
    use = [_bind(bound_to, value, fixture), *inner]
    if isinstance(exits[0], ast.Return):
        if exits[0] is not body[-1]:
            raise RefusedError(f"fixture {bound_to} with several results", fixture.lineno)
        return [*body[:-1], *use]
    if not _replace_yield(body, exits[0], use):
        raise RefusedError(f"fixture {bound_to} uses what `yield` returns", fixture.lineno)
    return body


_EXITS = (ast.Return, ast.Yield, ast.YieldFrom)


def _bind(identifier: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return located(ast.Assign([ast.Name(identifier, ast.Store())], value), place)


def _replace_yield(body: list[ast.stmt], found: ast.expr, use: list[ast.stmt]) -> bool:
    """Put statements in the place of the statement that is the `yield`; return whether it is one."""
    for at, item in enumerate(body):
        if isinstance(item, ast.Expr) and item.value is found:
            body[at : at + 1] = use
            return True
        blocks = [item.body] if isinstance(item, (ast.With, ast.AsyncWith, ast.Try)) else []
        if any(_replace_yield(block, found, use) for block in blocks):
            return True
    return False


_METHODS_OF_UNITTEST = frozenset({"subTest", "fail", "skipTest"})


class AttributeNames(ast.NodeTransformer):
    """Replaces the attributes of a test class's instance, `self.x`, by names `self__x`."""

    def __init__(self, owners: set[str]) -> None:
        self._owners = owners

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave methods of other classes as they are."""
        if not {item.arg for item in node.args.args} & {"self", "cls"}:
            self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self._owners:
            if node.attr.startswith("assert") or node.attr in _METHODS_OF_UNITTEST:
                return load(node.attr, node)
            return located(ast.Name(f"self__{node.attr}", node.ctx), node)
        self.generic_visit(node)
        return node


def load(identifier: str, place: ast.AST) -> ast.Name:
    """Return a name that is loaded at a place."""
    return located(name(identifier), place)
