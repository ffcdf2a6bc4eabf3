"""The nodes of a module that may be edited, each with its context."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from greenloop.syntax.source import Located, Source, TextEdit

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNEDITED_NODES = (Import, ast.Global, ast.Nonlocal, ast.Pass)
_MAIN_TESTS = ("__name__ == '__main__'", "'__main__' == __name__")
_TYPE_FIELDS = {"annotation", "returns", "type_params", "type_comment"}
# Metadata of a module, which a test has no reason to compare.
_METADATA_NAMES = frozenset(
    "__all__ __author__ __author_email__ __build__ __copyright__ __credits__ __date__ __description__ "
    "__doc__ __email__ __license__ __maintainer__ __status__ __title__ __uri__ __url__ __version__ "
    "__version_info__ __version_tuple__".split()
)
_N = TypeVar("_N", bound=ast.AST)


@dataclass(frozen=True)
class NodeContext:
    """A node with its ancestors (outermost first) and its function's dotted name ('' for none)."""

    node: ast.AST
    source: Source
    ancestors: tuple[ast.AST, ...] = ()
    function: str = ""

    @property
    def parent(self) -> ast.AST | None:
        """The node's parent; None for the module."""
        return self.ancestors[-1] if self.ancestors else None

    @property
    def is_in_function(self) -> bool:
        """Whether the code runs when a function is called, not when the module is imported."""
        return any(isinstance(item, (Function, ast.Lambda)) for item in self.ancestors)

    def is_field(self, name: str) -> bool:
        """Return whether the node is this field of its parent."""
        return getattr(self.parent, name, None) is self.node

    def text(self, node: Located) -> str:
        """Return the text of a node."""
        return self.source.get_segment(node)

    def replace(self, node: Located, text: str) -> TextEdit:
        """Return the edit that puts `text` in place of a node."""
        return self.source.replace_node(node, text)


def walk_editable_nodes(tree: ast.Module, source: Source) -> Iterator[NodeContext]:
    """Yield all nodes but docstrings, annotations, `__all__` and code that never runs in a test."""
    pending = [NodeContext(tree, source)]
    while pending:
        context = pending.pop()
        node = context.node
        if not (isinstance(node, ast.If) and _is_never_executed(node)):
            yield context
        ancestors, function = (*context.ancestors, node), _get_function_name(context)
        pending.extend(
            NodeContext(child, source, ancestors, function)
            for child in _iter_children(node, source)
            if not _is_excluded(child)
        )


def _get_function_name(context: NodeContext) -> str:
    if isinstance(context.node, Definition):
        return ".".join(name for name in (context.function, context.node.name) if name)
    return context.function


def _iter_children(node: ast.AST, source: Source) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):  # the expressions whose position is known
        found = (item.value for item in node.values if isinstance(item, ast.FormattedValue))
        yield from filter(source.has_valid_span, found)
        return
    never_executed = isinstance(node, ast.If) and _is_never_executed(node)
    for name, value in ast.iter_fields(node):
        if name in _TYPE_FIELDS or (never_executed and name in ("test", "body")):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _is_excluded(node: ast.AST) -> bool:
    if isinstance(node, _UNEDITED_NODES) or type(node).__name__ == "TypeAlias":
        return True
    if is_constant_statement(node):
        return True
    if targets := get_assigned_targets(node):
        return any(isinstance(item, ast.Name) and item.id in _METADATA_NAMES for item in targets)
    names = [get_last_name(item) for item in getattr(node, "decorator_list", ())]
    return isinstance(node, Function) and (
        "overload" in names or ("abstractmethod" in names and _is_left_to_subclasses(node))
    )


def _is_left_to_subclasses(node: Function) -> bool:
    """Return whether a method only raises NotImplementedError."""
    return all(
        is_constant_statement(i)
        or (isinstance(i, ast.Raise) and get_last_name(i.exc) == "NotImplementedError")
        for i in node.body
    )


def _is_never_executed(node: ast.If) -> bool:
    """Return whether it is `if TYPE_CHECKING` or `if __name__ == "__main__"`."""
    if get_last_name(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node.test, ast.Compare) and ast.unparse(node.test) in _MAIN_TESTS


def is_constant_statement(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, `...` or another constant by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def get_last_name(node: ast.AST | None) -> str:
    """Return the last name of `a`, `m.a`, `a(…)` and `m.a(…)`; '' for any other node."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that these nodes define, import, assign or have as arguments."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Definition):
            found.add(node.name)
        elif isinstance(node, Import):
            found |= {(item.asname or item.name).partition(".")[0] for item in node.names}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def find_head_end(tree: ast.Module, is_part: Callable[[ast.stmt], object]) -> int:
    """Return the last line of a module's docstring and the `is_part` statements right after it.

    0 where the module begins with something else.
    """
    first = int(ast.get_docstring(tree, clean=False) is not None)
    head = [*tree.body[:first], *takewhile(is_part, tree.body[first:])]
    return max((node.end_lineno or node.lineno for node in head), default=0)


def get_assigned_targets(node: ast.AST) -> list[ast.expr]:
    """Return what an assignment assigns to; [] for any other node."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []


def list_lines(node: ast.expr | ast.stmt) -> range:
    """Return the numbers of a node's lines, without its decorators."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def list_header_lines(node: ast.AST) -> range:
    """Return the numbers of a node's lines; of a compound statement, those of its header."""
    inner = getattr(node, "body", None) or getattr(node, "cases", None)
    first = _get_line_number(node)
    last = getattr(node, "end_lineno", None) or first
    if isinstance(inner, list):
        last = max(first, _get_line_number(inner[0]) - 1)
    return range(first, last + 1)


def _get_line_number(node: ast.AST) -> int:
    """Return a node's line; of a `case`, which has none, the line of its pattern."""
    placed: Any = getattr(node, "pattern", node)
    return int(placed.lineno)


def get_line_span(node: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a statement, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(item.lineno for item in decorators)])
    return first, node.end_lineno or node.lineno


def copy_tree(node: _N) -> _N:
    """Return a deep copy of a tree; `copy.deepcopy` takes ten times as long."""
    fields: dict[str, Any] = {}
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            value = [copy_tree(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST):
            value = copy_tree(value)
        fields[field] = value
    made: Any = type(node)(**fields)
    made.lineno, made.col_offset = getattr(node, "lineno", 1), 0  # `ast.unparse` reads the line
    copied: _N = made
    return copied


class _SignFolder(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        is_number = isinstance(inner, ast.Constant) and type(inner.value) in (int, float)
        if isinstance(node.op, ast.USub) and is_number:
            return ast.Constant(-inner.value)  # type: ignore[attr-defined]
        return node


def fold_signs(tree: _N) -> _N:
    """Replace negated numbers by negative constants, in place."""
    changed: _N = _SignFolder().visit(tree)
    return changed
