"""Rules for values whose mutants change nothing that a caller sees in nearly all modules.

Each was found among the survivors that a reader of the contract could name no input for.
"""

from __future__ import annotations

import ast

from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.nodes import get_last_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_STRIPPING_METHODS = {"strip", "lstrip", "rstrip"}
_CACHE_UPDATES = {"update", "setdefault"}
_SPLITTING_METHODS = {"split", "rsplit"}


def is_default_tested_for_truth(proposed: ProposedEdit) -> bool:
    """Whether a parameter's default None becomes "" and the parameter is only tested for truth."""
    node, ancestors = proposed.context.node, proposed.context.ancestors
    if proposed.operator.name != "nothing" or len(ancestors) < 2:
        return False
    function, arguments = ancestors[-2], ancestors[-1]
    if not isinstance(arguments, ast.arguments) or not isinstance(function, _FUNCTIONS):
        return False
    positional = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) or None :]
    pairs = [*zip(positional, arguments.defaults, strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
    name = next((item.arg for item, default in pairs if default is node), "")
    loads = [
        item
        for item in ast.walk(function)
        if isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Load)
    ]
    tested = {id(item) for parent in ast.walk(function) for item in _truth_operands(parent)}
    tested |= {id(item) for parent in ast.walk(function) for item in _find_guarded(parent, name)}
    tested |= {id(item) for item in _find_below_replacement(function, name)}
    return bool(loads) and all(id(item) in tested for item in loads)


def _truth_operands(node: ast.AST) -> list[ast.expr]:
    """Return the operands of which only the truth counts."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return node.values[:-1]
    return []


def _find_guarded(node: ast.AST, name: str) -> list[ast.AST]:
    """Return what runs only where the parameter is true: the default never comes there."""
    test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
    if not isinstance(test, ast.Name) or test.id != name:
        return []
    body = node.body if isinstance(node, ast.If) else [node.body]  # type: ignore[attr-defined]
    return [item for statement in body for item in ast.walk(statement)]


def _find_below_replacement(
    function: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> list[ast.AST]:
    """Return what runs after the parameter was assigned, where it was false: `if not x: x = []`."""
    for at, statement in enumerate(function.body):
        below = function.body[at + 1 :]
        match statement:
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return [item for later in below for item in ast.walk(later)]
            case ast.If(
                test=ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=tested)),
                body=[ast.Assign(targets=[ast.Name(id=found)]), *rest],
                orelse=orelse,
            ) if (
                tested == found == name
            ):
                return [item for later in (*rest, *orelse, *below) for item in ast.walk(later)]
    return []


def is_copy_as_list(proposed: ProposedEdit) -> bool:
    """Whether `list(x)` becomes `x`."""
    node = proposed.context.node
    is_list = isinstance(node, ast.Call) and get_last_name(node.func) == "list"
    return proposed.operator.name == "unwrapped" and is_list


def is_split_without_limit(proposed: ProposedEdit) -> bool:
    """Whether `split` and `rsplit` are exchanged where no maximum of splits is given."""
    node = proposed.context.node
    if proposed.operator.name != "other-call" or not isinstance(node, ast.Call):
        return False
    names_limit = any(item.arg in ("maxsplit", None) for item in node.keywords)
    return proposed.original in _SPLITTING_METHODS and len(node.args) < 2 and not names_limit


def is_cache_update(proposed: ProposedEdit) -> bool:
    """Whether it removes `cache.update(…)`: what is not kept is computed again."""
    node = proposed.context.node
    call = node.value if isinstance(node, ast.Expr) else None
    if proposed.operator.name != "call-removed" or not isinstance(call, ast.Call):
        return False
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr not in _CACHE_UPDATES:
        return False
    receiver = get_last_name(method.value).lower()
    return "cache" in receiver or "memo" in receiver


def is_more_digits(proposed: ProposedEdit) -> bool:
    """Whether `round` keeps more digits than before."""
    node, parent = proposed.context.node, proposed.context.parent
    if proposed.operator.name != "number" or not isinstance(node, ast.Constant):
        return False
    if not isinstance(parent, ast.Call) or get_last_name(parent.func) != "round":
        return False
    is_digits = len(parent.args) > 1 and parent.args[1] is node
    return is_digits and isinstance(node.value, int) and proposed.edit.text == str(node.value + 1)


def is_set_of_characters(proposed: ProposedEdit) -> bool:
    """Whether marks are added to characters that are looked for one by one: `sign in "+-"`."""
    node, parent = proposed.context.node, proposed.context.parent
    if proposed.operator.name != "text" or not isinstance(node, ast.Constant):
        return False
    if not node.value or any(item.isalnum() for item in str(node.value)):
        return False
    if isinstance(parent, ast.Compare):
        is_membership = all(isinstance(item, (ast.In, ast.NotIn)) for item in parent.ops)
        return is_membership and node in parent.comparators
    method = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr in _STRIPPING_METHODS


def is_type_of_cast(proposed: ProposedEdit) -> bool:
    """Whether the edit is in the type that `typing.cast` is given, which it returns no part of."""
    context, edit = proposed.context, proposed.edit
    for call in (context.node, *reversed(context.ancestors)):
        if isinstance(call, ast.Call) and call.args and get_last_name(call) == "cast":
            start, end = context.source.span(call.args[0])
            if start <= edit.start and edit.end <= end:
                return _is_from_typing(call.func, context.ancestors[0])
    return False


def _is_from_typing(function: ast.expr, module: ast.AST) -> bool:
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "typing"
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in ("typing", "typing_extensions")
        and any(item.name == "cast" and item.asname is None for item in node.names)
        for node in ast.walk(module)
    )
