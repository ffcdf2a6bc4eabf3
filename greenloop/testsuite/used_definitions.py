"""A test with the helpers, fixtures and classes of its file that it uses."""

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import Definition, Function, bound_names, get_line_span
from greenloop.syntax.parse import parse_or_empty

_MAX_CHARS = 8000


def show_with_definitions(code: str, name: str) -> str:
    """Return a test below the definitions of its file that it uses, directly or not.

    A fixture is used by its name as an argument, one with `autouse` always. A method is shown in
    its class, without the class's other tests. '' where the file has no such test, or where all
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
    lines = code.split("\n")
    text = "\n".join(lines[number - 1] for number in sorted(shown))
    return text if len(text) <= _MAX_CHARS else ""


def _find_other_tests(node: ast.AST, path: list[str]) -> Iterator[ast.stmt]:
    """Yield the tests of a class, and of classes in it, but the one at `path`."""
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
