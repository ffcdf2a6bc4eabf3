"""Rules that recognize edits of types, which type checkers read, and no test."""

import ast
import re
import typing
from collections.abc import Iterable
from itertools import pairwise

from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.names import list_annotations
from greenloop.syntax.nodes import Import, bound_names, get_last_name

_TYPE_VARIABLES = {"TypeVar", "NewType", "ParamSpec", "TypeVarTuple", "TypedDict"}
_TUPLE_FACTORIES = {"namedtuple", "NamedTuple"}
_MODULES = ("typing", "typing_extensions")
_BUILTIN = {"dict", "frozenset", "list", "set", "tuple", "type"}
_GENERIC = {*typing.__all__, *_BUILTIN} - {"Annotated", "Literal"}  # these two hold values


def is_name_of_type(proposed: ProposedEdit) -> bool:
    """Whether the edit is in a type variable, or in the type name that `namedtuple` is given."""
    parent = proposed.context.parent
    calls = (proposed.context.node, *proposed.context.ancestors)
    if any(isinstance(i, ast.Call) and get_last_name(i) in _TYPE_VARIABLES for i in calls):
        return True
    if proposed.operator.name != "text" or not isinstance(parent, ast.Call) or not parent.args:
        return False
    return parent.args[0] is proposed.context.node and get_last_name(parent) in _TUPLE_FACTORIES


def is_type_of_cast(proposed: ProposedEdit) -> bool:
    """Whether the edit is in the type argument of `typing.cast`, which has no effect at runtime."""
    context, edit = proposed.context, proposed.edit
    for call in (context.node, *reversed(context.ancestors)):
        if isinstance(call, ast.Call) and call.args and get_last_name(call) == "cast":
            start, end = context.source.span(call.args[0])
            if start <= edit.start and edit.end <= end:
                return _is_from_typing(call.func, context.ancestors[0])
    return False


def _is_from_typing(function: ast.expr, module: ast.AST) -> bool:
    imports = [node for node in ast.walk(module) if isinstance(node, Import)]
    if isinstance(function, ast.Attribute):
        owner = get_last_name(function.value)
        return any(
            isinstance(node, ast.Import)
            and item.name in _MODULES
            and owner == (item.asname or item.name)
            for node in imports
            for item in node.names
        )
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in _MODULES
        and any(item.name == "cast" and item.asname is None for item in node.names)
        for node in imports
    )


def is_in_type(proposed: ProposedEdit) -> bool:
    """Whether the edit is in an argument of a generic type, or in an alias for annotations only."""
    context = proposed.context
    module = (*context.ancestors, context.node)[0]
    path = pairwise((context.node, *reversed(context.ancestors)))
    return any(_is_type(child, parent, module) for child, parent in path)


def _is_type(node: ast.AST, parent: ast.AST, module: ast.AST) -> bool:
    if isinstance(parent, ast.Subscript) and node is parent.slice:
        return _is_generic(parent.value, module)
    if isinstance(parent, ast.AnnAssign):
        return node is parent.value and get_last_name(parent.annotation) == "TypeAlias"
    # Only a text and a subscript: all other values would make the search of names slow.
    if not isinstance(parent, ast.Assign) or not isinstance(node, (ast.Constant, ast.Subscript)):
        return False
    target, *others = parent.targets
    return isinstance(target, ast.Name) and not others and _is_only_in_types(target.id, module)


def _is_generic(value: ast.expr, module: ast.AST) -> bool:
    """Whether a value is a class of `typing`, or a built-in one that the module does not hide."""
    if get_last_name(value) not in _GENERIC or isinstance(value, ast.Call):
        return False
    if isinstance(value, ast.Attribute):
        return _is_from_typing(value, module)
    own = (node for node in ast.walk(module) if not isinstance(node, Import))
    return get_last_name(value) not in bound_names(own)


def _is_only_in_types(name: str, module: ast.AST) -> bool:
    """Whether a name is assigned once, annotations use it, and nothing else does."""
    types = [node for node in list_annotations(module) if not _holds_values(node)]
    in_types = [item for node in types for item in ast.walk(node)]
    is_quoted = any(isinstance(i, ast.Constant) and _mentions(i.value, name) for i in in_types)
    count = _count_uses(in_types, name)
    return (count > 0 or is_quoted) and _count_uses(ast.walk(module), name) == count + 1


def _holds_values(node: ast.expr) -> bool:
    """Whether an annotation has values that programs read: `Annotated[str, Field(pattern=X)]`."""
    return any(isinstance(i, ast.Call) or get_last_name(i) == "Annotated" for i in ast.walk(node))


def _mentions(value: object, name: str) -> bool:
    return isinstance(value, str) and name in re.findall(r"\w+", value)


def _count_uses(nodes: Iterable[ast.AST], name: str) -> int:
    return sum(isinstance(item, ast.Name) and item.id == name for item in nodes)
