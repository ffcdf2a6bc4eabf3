"""Which nodes of a module may be mutated, and where each stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.syntax.source import Source

_UNMUTATED_NODES = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TYPE_FIELDS = {"annotation", "returns", "type_params", "type_comment"}
_METADATA_NAMES = {"__all__", "__author__", "__version__", "__doc__"}


@dataclass(frozen=True)
class NodeLocation:
    """Where a node stands: its ancestors, outermost first, and the function around it ('' none)."""

    ancestors: tuple[ast.AST, ...] = ()
    function: str = ""

    @property
    def parent(self) -> ast.AST | None:
        return self.ancestors[-1] if self.ancestors else None


def walk_mutable_nodes(tree: ast.Module, source: Source) -> Iterator[tuple[ast.AST, NodeLocation]]:
    """All nodes but docstrings, annotations, `__all__` and what never runs in a test."""
    waiting: list[tuple[ast.AST, NodeLocation]] = [(tree, NodeLocation())]
    while waiting:
        node, place = waiting.pop()
        if not (isinstance(node, ast.If) and _is_never_executed(node)):
            yield node, place
        below = _build_child_location(node, place)
        inner = (
            _iter_f_string_expressions(node, source)
            if isinstance(node, ast.JoinedStr)
            else _iter_children(node)
        )
        waiting.extend((child, below) for child in inner if not _is_excluded(child))


def _build_child_location(node: ast.AST, location: NodeLocation) -> NodeLocation:
    function = location.function
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        function = f"{function}.{node.name}" if function else node.name
    return NodeLocation((*location.ancestors, node), function)


def _iter_children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        never = name in ("test", "body") and isinstance(node, ast.If) and _is_never_executed(node)
        if name in _TYPE_FIELDS or never:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _is_excluded(node: ast.AST) -> bool:
    if isinstance(node, _UNMUTATED_NODES) or type(node).__name__ == "TypeAlias":
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(item, ast.Name) and item.id in _METADATA_NAMES for item in targets)
    return isinstance(node, _FUNCTIONS) and any(
        get_last_name(item) == "overload" for item in node.decorator_list
    )


def _is_never_executed(node: ast.If) -> bool:
    """`if TYPE_CHECKING` and `if __name__ == "__main__"`."""
    if get_last_name(node.test) == "TYPE_CHECKING":
        return True
    test = node.test
    return isinstance(test, ast.Compare) and get_last_name(test.left) == "__name__"


def _iter_f_string_expressions(node: ast.JoinedStr, source: Source) -> Iterator[ast.AST]:
    """The expressions in an f-string whose place is known."""
    for value in node.values:
        if isinstance(value, ast.FormattedValue) and source.has_valid_span(value.value):
            yield value.value


def get_last_name(node: ast.AST | None) -> str:
    """The last name of `a`, `m.a`, `a(…)` and `m.a(…)`; '' of anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_in_function(location: NodeLocation) -> bool:
    """Whether the code runs when a function is called, not when the module is imported."""
    return any(isinstance(item, (*_FUNCTIONS, ast.Lambda)) for item in location.ancestors)
