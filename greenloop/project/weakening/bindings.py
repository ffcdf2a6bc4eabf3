"""Constant propagation in test files: the last value that was assigned to each name."""

import ast
import copy
from collections.abc import Iterator, Mapping
from typing import TypeVar

from greenloop.syntax.nodes import Function

_MAX_NODES = 2000  # a larger result is not used, and the code keeps its names
Bindings = Mapping[str, ast.expr]
_Node = TypeVar("_Node", bound=ast.AST)


def bind_names(node: ast.stmt, bound: dict[str, ast.expr]) -> None:
    """Record the values that a statement assigns, and drop names that get an unknown value."""
    known: dict[str, ast.expr] = {}
    match node:
        case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.expr() as value):
            bound[name] = resolve(value, bound)
            return
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            bound[name] = resolve(value, bound)
            return
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.expr() as value):
            known = dict(bind_target(target, resolve(value, bound)))
        case ast.Import(names=names):
            known = {i.asname: ast.parse(i.name, mode="eval").body for i in names if i.asname}
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            bound.pop(item.id, None)
    bound.update(known)


def bind_target(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of an assignment target, each with its part of the value."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (
            ast.Tuple(elts=parts) | ast.List(elts=parts),
            ast.Tuple(elts=given) | ast.List(elts=given),
        ) if len(parts) == len(given):
            for part, item in zip(parts, given, strict=True):
                yield from bind_target(part, item)
        case ast.Tuple(elts=parts) | ast.List(elts=parts), _:
            for number, part in enumerate(parts):
                yield from bind_target(part, ast.Subscript(value, ast.Constant(number), ast.Load()))


def read_defaults(given: ast.arguments) -> Bindings:
    """Return the defaults of a function's parameters."""
    names, values = [item.arg for item in given.args], given.defaults
    pairs = [*zip(names[len(names) - len(values) :], values, strict=True)]
    pairs += [
        (item.arg, i) for item, i in zip(given.kwonlyargs, given.kw_defaults, strict=True) if i
    ]
    return dict(pairs)


def read_result(function: Function) -> ast.Lambda | None:
    """Return a function as an expression if it only ends with `return`, else None.

    Of a fixture that returns a function, it is that function.
    """
    *body, last = _unfold(function.body)
    match last:
        case ast.Return(value=ast.Name(id=name)):
            for node in body:
                if isinstance(node, Function) and node.name == name:
                    return read_result(node)
    inside = [item for node in body for item in ast.walk(node)]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    if any(isinstance(item, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)) for item in inside):
        return None
    bound: dict[str, ast.expr] = {}
    for node in body:
        bind_names(node, bound)
    return ast.Lambda(function.args, resolve(last.value, bound))


def _unfold(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements with the bodies of `with` in its place."""
    found: list[ast.stmt] = []
    for node in body:
        found += _unfold(node.body) if isinstance(node, ast.With) else [node]
    return found


def bind_arguments(function: ast.arguments, call: ast.Call) -> Bindings:
    """Return the values that a call gives the parameters of a function or method."""
    names = [item.arg for item in function.args]
    given = dict(zip(names["self" in names[:1] :], call.args, strict=False))
    return {**read_defaults(function), **given, **{i.arg: i.value for i in call.keywords if i.arg}}


def resolve(node: _Node, bound: Bindings) -> _Node:
    """Return code with names replaced by their values, or unchanged if it gets too large."""
    found: _Node = _Resolver(bound).visit(node)
    is_large = sum(1 for _ in ast.walk(found)) > _MAX_NODES
    return node if is_large else found


class _Resolver(ast.NodeTransformer):
    """Transformer that replaces names by values, and folds constant f-strings and `getattr`."""

    def __init__(self, bound: Bindings) -> None:
        self._bound = bound

    def generic_visit(self, node: _Node) -> _Node:
        new = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                parts = (self.visit(i) if isinstance(i, ast.AST) else i for i in value)
                setattr(new, name, list(parts))
            elif isinstance(value, ast.AST):
                setattr(new, name, self.visit(value))
        return new

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        found = list(map(self._read_part, node.values))
        texts = [text for text in found if text is not None]
        # CPython < 3.12 cannot unparse an f-string with every kind of expression in it.
        return ast.Constant("".join(texts)) if len(texts) == len(found) else node

    def _read_part(self, part: ast.expr) -> str | None:
        match part:
            case ast.Constant(value=value):
                return str(value)
            case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None):
                given = self._bound.get(name)
                return str(given.value) if isinstance(given, ast.Constant) else None
        return None

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(str(left)), ast.Add(), ast.Constant(str(right))):
                return ast.Constant(left + right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node = self.generic_visit(node)
        node.args = [part for item in node.args for part in _spread(item)]
        node.keywords = [part for item in node.keywords for part in _spread_keyword(item)]
        match self._bound.get(f"{read_called(node)}()"):
            case ast.Lambda(parameters, result):
                return resolve(result, bind_arguments(parameters, node))
        match node:
            case ast.Call(
                func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name))]
            ) if name.isidentifier():
                return ast.Attribute(owner, name, ast.Load())
        return _read_display(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node = self.generic_visit(node)
        is_error = isinstance(node.value, ast.Name) and node.value.id == "raised"
        return ast.Attribute(node.value, "value", node.ctx) if is_error else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


def read_called(node: ast.expr) -> str:
    """Return the name of the called function or method of `self`, '' for anything else."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name
    return ""


def _read_display(node: ast.Call) -> ast.expr:
    """Return a call with literal items as a display, such as `{1, 2}` for `set([1, 2])`."""
    match node:
        case ast.Call(
            func=ast.Name(id="set" | "list" | "tuple" as name),
            args=[ast.List(elts=[_, *_] as parts) | ast.Tuple(elts=[_, *_] as parts)],
            keywords=[],
        ):
            if name == "set":
                return ast.Set(parts)
            return (ast.List if name == "list" else ast.Tuple)(parts, ast.Load())
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=[_, *_] as given) if all(
            item.arg for item in given
        ):
            keys: list[ast.expr | None] = [ast.Constant(item.arg) for item in given]
            return ast.Dict(keys, [item.value for item in given])
    return node


def _spread(item: ast.expr) -> list[ast.expr]:
    """Return the arguments of `*` before a literal list or tuple, else the argument itself."""
    match item:
        case ast.Starred(value=ast.List(elts=parts) | ast.Tuple(elts=parts)):
            return parts
    return [item]


def _spread_keyword(item: ast.keyword) -> list[ast.keyword]:
    """Return the arguments of `**` before a literal dict, else the argument itself."""
    match item:
        case ast.keyword(arg=None, value=ast.Dict(keys=keys, values=values)):
            pairs = zip(keys, values, strict=True)
            found = [
                ast.keyword(key.value, value)
                for key, value in pairs
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            return found if len(found) == len(keys) else [item]
    return [item]
