"""Which nodes of a module may be mutated, and where each stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.syntax.source import Source

_NOTHING_TO_CHANGE = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TYPES = {"annotation", "returns", "type_params", "type_comment"}
_FOR_READERS = {"__all__", "__author__", "__version__", "__doc__"}


@dataclass(frozen=True)
class Place:
    """Where a node stands: its ancestors, outermost first, and the function around it ('' none)."""

    ancestors: tuple[ast.AST, ...] = ()
    function: str = ""

    @property
    def parent(self) -> ast.AST | None:
        return self.ancestors[-1] if self.ancestors else None


def places(tree: ast.Module, source: Source) -> Iterator[tuple[ast.AST, Place]]:
    """All nodes but docstrings, annotations, `__all__` and what never runs in a test."""
    waiting: list[tuple[ast.AST, Place]] = [(tree, Place())]
    while waiting:
        node, place = waiting.pop()
        if not (isinstance(node, ast.If) and _never_runs(node)):
            yield node, place
        below = _below(node, place)
        inner = _in_text(node, source) if isinstance(node, ast.JoinedStr) else _children(node)
        waiting.extend((child, below) for child in inner if not _is_left_out(child))


def _below(node: ast.AST, place: Place) -> Place:
    function = place.function
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        function = f"{function}.{node.name}" if function else node.name
    return Place((*place.ancestors, node), function)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        never = name in ("test", "body") and isinstance(node, ast.If) and _never_runs(node)
        if name in _TYPES or never:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, _NOTHING_TO_CHANGE) or type(node).__name__ == "TypeAlias":
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(item, ast.Name) and item.id in _FOR_READERS for item in targets)
    return isinstance(node, _FUNCTIONS) and any(
        name_of(item) == "overload" for item in node.decorator_list
    )


def _never_runs(node: ast.If) -> bool:
    """`if TYPE_CHECKING` and `if __name__ == "__main__"`."""
    if name_of(node.test) == "TYPE_CHECKING":
        return True
    test = node.test
    return isinstance(test, ast.Compare) and name_of(test.left) == "__name__"


def _in_text(node: ast.JoinedStr, source: Source) -> Iterator[ast.AST]:
    """The expressions in an f-string whose place is known."""
    for value in node.values:
        if isinstance(value, ast.FormattedValue) and source.holds(value.value):
            yield value.value


def name_of(node: ast.AST | None) -> str:
    """The last name of `a`, `m.a`, `a(…)` and `m.a(…)`; '' of anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def in_function(place: Place) -> bool:
    """Whether the code runs when a function is called, not when the module is imported."""
    return any(isinstance(item, (*_FUNCTIONS, ast.Lambda)) for item in place.ancestors)
