"""Cases of a test: values of names from `parametrize`, fixture parameters and literal loops."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from greenloop.project.weakening.bindings import Bindings, bind_target, resolve
from greenloop.project.weakening.skips import explain_skip
from greenloop.syntax.nodes import Function

_MAX_CASES = 300


@dataclass(frozen=True)
class Case:
    """Values of the names of a test in one of its runs; `skip` is why the run may be skipped."""

    values: Bindings = field(default_factory=dict)
    skip: str = ""


def list_cases(
    marks: Sequence[ast.expr], bound: Bindings, fixtures: Iterable[Function] = ()
) -> list[Case]:
    """Return the cases from marks and fixtures, or one case without values if none is literal."""
    calls = (mark for mark in marks if isinstance(mark, ast.Call))
    several = [_read_mark(i, bound) for i in calls if ast.unparse(i.func).endswith("parametrize")]
    several += [_read_fixture(item, bound) for item in fixtures]
    return list(map(_join, islice(product(*several), _MAX_CASES)))


def _read_fixture(node: Function, bound: Bindings) -> list[Case]:
    """Return a case for each parameter of a fixture."""
    calls = (mark for mark in node.decorator_list if isinstance(mark, ast.Call))
    named = (i.value for call in calls for i in call.keywords if i.arg == "params")
    items = next((list_items(value, bound) for value in named), None)
    found = [_read_case(ast.Name(node.name), item, bound) for item in items or ()]
    if "\n".join(map(ast.unparse, node.body)) != "return request.param":
        found = [_call_fixture(node.name, case) for case in found]
    return found or [Case()]


def _call_fixture(name: str, case: Case) -> Case:
    value: ast.expr = ast.Call(ast.Name(name, ast.Load()), list(case.values.values()), [])
    return Case({name: value}, case.skip)


def _join(cases: Sequence[Case]) -> Case:
    values = {name: value for case in cases for name, value in case.values.items()}
    return Case(values, next((case.skip for case in cases if case.skip), ""))


def _read_mark(mark: ast.Call, bound: Bindings) -> list[Case]:
    given = dict(zip(("argnames", "argvalues"), mark.args, strict=False))
    given |= {item.arg: item.value for item in mark.keywords if item.arg}
    items = list_items(given["argvalues"], bound) if "argvalues" in given else None
    target = _read_target(given["argnames"]) if "argnames" in given else None
    is_direct = target is not None and "indirect" not in given
    target = target if is_direct else None
    return [_read_case(target, item, bound) for item in items] if items else [Case()]


def _read_target(names: ast.expr) -> ast.expr | None:
    """Return the `argnames` of a mark as an assignment target."""
    match names:
        case ast.Constant(value=str(text)):
            found = [i.strip() for i in text.split(",") if i.strip()]
            if len(found) == 1:
                return ast.Name(found[0], ast.Store())
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            found = [str(i.value) for i in parts if isinstance(i, ast.Constant)]
        case _:
            return None
    return ast.Tuple([ast.Name(name, ast.Store()) for name in found], ast.Store())


def _read_case(target: ast.expr | None, item: ast.expr, bound: Bindings) -> Case:
    marks = [i.value for i in getattr(item, "keywords", ()) if i.arg == "marks"]
    skip = ast.unparse(item) if explain_skip(marks, (), bound) else ""
    match item:
        case ast.Call(func=ast.Attribute(attr="param") | ast.Name(id="param"), args=arguments):
            is_one = isinstance(target, ast.Name) and len(arguments) == 1
            item = arguments[0] if is_one else ast.Tuple(arguments, ast.Load())
    values = bind_target(target, resolve(item, bound)) if target is not None else ()
    return Case(dict(values), skip)


def list_items(node: ast.expr, bound: Bindings) -> list[ast.expr] | None:
    """Return the items of an iterated expression in order, or None if they are not literal."""
    match node:
        case ast.Name(id=name) if name in bound:
            return list_items(bound[name], {i: bound[i] for i in bound if i != name})
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            lists = [
                list_items(i.value, bound) if isinstance(i, ast.Starred) else [i] for i in parts
            ]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            lists = [list_items(left, bound), list_items(right, bound)]
        case ast.Call(ast.Attribute(table, "items" | "keys" | "values" as part), []):
            table = bound.get(table.id, table) if isinstance(table, ast.Name) else table
            pairs = (
                zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
            )
            lists = [[_take(part, k, v)] if k else None for k, v in pairs] or [None]
        case ast.Call(ast.Name("sorted" | "reversed" | "list" | "tuple" | "set"), [inner], []):
            lists = [list_items(inner, bound)]
        case ast.Call(ast.Name("enumerate"), [inner], []):
            numbered = enumerate(list_items(inner, bound) or ())
            lists = [[ast.Tuple([ast.Constant(i), item], ast.Load())] for i, item in numbered] or [
                None
            ]
        case ast.Call(ast.Name("range"), arguments):
            numbers = [i.value for i in arguments if isinstance(i, ast.Constant)]
            known = [number for number in numbers if isinstance(number, int)]
            several = range(*known)[:_MAX_CASES] if len(known) == len(arguments) else ()
            lists = [[ast.Constant(number)] for number in several] or [None]
        case _:
            return None
    return None if None in lists else [item for items in lists for item in items or ()]


def _take(part: str, key: ast.expr, value: ast.expr) -> ast.expr:
    """Return the part of a dict entry that `items`, `keys` or `values` yields."""
    return {"keys": key, "values": value}.get(part) or ast.Tuple([key, value], ast.Load())
