"""A test with the helpers, fixtures and classes of its file that it uses."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from greenloop.syntax.names import find_stores, free_names
from greenloop.syntax.nodes import Definition, Function, bound_names, get_line_span
from greenloop.syntax.parse import parse_or_empty
from greenloop.syntax.source import LINE_END
from greenloop.testsuite.module_under_test import fill_in
from greenloop.testsuite.programs.binding import bind_arguments
from greenloop.testsuite.programs.records import RefusedError

_MAX_CHARS = 8000


def show_with_definitions(code: str, name: str) -> str:
    """Return a test below the definitions of its file that it uses, directly or not.

    A fixture is used if an argument has its name, and always if it has `autouse`. A method is shown
    in its class, without the class's other tests. '' if the file has no such test, or if the result
    is longer than 8000 characters.
    """
    body = parse_or_empty(code).body
    top_name, _, rest = name.partition("::")
    top = next((item for item in body if top_name in _bound_names(item)), None)
    if top is None:
        return ""
    hidden = list(_find_other_tests(top, rest.split("::"))) if rest else []
    used = [top, *(item for item in body if item is not top and _is_autouse(item))]
    for node in used:  # grows while it is walked
        names = set(_find_used_names(node, hidden))
        used += [item for item in body if item not in used and names & _bound_names(item)]
    shown = {line for item in used for line in _lines_of(item)}
    shown -= {line for item in hidden for line in _lines_of(item)}
    lines = LINE_END.split(code)
    text = "\n".join(lines[number - 1] for number in sorted(shown))
    return text if len(text) <= _MAX_CHARS else ""


def _find_other_tests(node: ast.AST, path: list[str]) -> Iterator[ast.stmt]:
    """Yield the tests of a class, and of classes in it, except the one at `path`."""
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.ClassDef) and item.name == path[0]:
            yield from _find_other_tests(item, path[1:])
        elif isinstance(item, Function) and item.name.startswith("test") and item.name != path[0]:
            yield item


def _find_used_names(node: ast.AST, hidden: list[ast.stmt]) -> Iterator[str]:
    """Yield names, arguments (fixtures), and strings, as in `usefixtures("clock")`."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.Name):
            yield item.id
        elif isinstance(item, ast.arg):
            yield item.arg
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value
        waiting += [child for child in ast.iter_child_nodes(item) if child not in hidden]


def _bound_names(node: ast.stmt) -> set[str]:
    return bound_names([node] if isinstance(node, Definition) else ast.walk(node))


def _is_autouse(node: ast.stmt) -> bool:
    return isinstance(node, Function) and any(
        "autouse=True" in ast.unparse(item) for item in node.decorator_list
    )


def _lines_of(node: ast.stmt) -> range:
    first, last = get_line_span(node)
    return range(first, last + 1)


def write_out_helpers(statements: str, definitions: str) -> str:
    """Return statements with calls of helpers replaced by what they return, to be read alone.

    `definitions` is the source of the helpers. Those with more than an expression are not replaced.
    """
    nodes = (node for node in parse_or_empty(definitions).body if isinstance(node, ast.FunctionDef))
    helpers = {node.name: node for node in nodes if _find_result(node) and not node.decorator_list}
    tree = _HelperWriter(helpers).visit(parse_or_empty(statements)) if helpers else None
    return ast.unparse(tree) if tree else statements


def _find_result(helper: ast.FunctionDef) -> ast.expr | None:
    """Return the expression of a helper that does nothing but return it; None for others."""
    body = helper.body[ast.get_docstring(helper) is not None :]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


class _HelperWriter(ast.NodeTransformer):
    def __init__(self, helpers: Mapping[str, ast.FunctionDef]) -> None:
        self._helpers = helpers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        helper = self._helpers.get(node.func.id) if isinstance(node.func, ast.Name) else None
        with suppress(RefusedError):
            return node if helper is None else self._write_out(helper, node)
        return node

    def _write_out(self, helper: ast.FunctionDef, call: ast.Call) -> ast.AST:
        """Return a call written out, or as it is if an argument would be made twice or captured."""
        result: Any = _find_result(helper)
        values, uses = bind_arguments(helper, call), Counter(free_names(result))
        is_repeated = any(
            uses[name] > 1 and isinstance(node, ast.Call)
            for name, value in values.items()
            for node in ast.walk(value)
        )
        given = {name for value in values.values() for name in free_names(value)}
        is_hidden = not find_stores(result).isdisjoint(given)
        if is_repeated or is_hidden:
            return call
        others = {name: node for name, node in self._helpers.items() if node is not helper}
        return _HelperWriter(others).visit(_Defaults().visit(fill_in(result, values)))  # type: ignore[no-any-return]


class _Defaults(ast.NodeTransformer):
    """Transformer of `None or x` to `x`."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]
        is_empty = isinstance(first, ast.Constant) and not first.value
        if not isinstance(node.op, ast.Or) or not is_empty:
            return node
        return node.values[1] if len(node.values) == 2 else ast.BoolOp(node.op, node.values[1:])
