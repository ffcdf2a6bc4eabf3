"""Expressions and statements built from what is in scope, tried where no common repair helps.

The operators of `operators` propose what developers often change. Here, each expression is combined
with or replaced by others of its function, conditions are built from comparisons of variables, and
statements are built from calls that the module makes. Most of these edits make no sense: they cost
more, and those that use a variable in a role that it has elsewhere come first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain, combinations, permutations

from greenloop.repair.context import CandidateEdit, RepairContext
from greenloop.repair.operators.blocks import (
    find_containing_body,
    find_statement_lines,
    insert_after,
    insert_before,
    is_jump_statement,
)
from greenloop.repair.scope import FunctionNode, NameScope
from greenloop.syntax.operators import Operator, edit_operator

_SIGNS = ("==", "!=", "<", "<=", ">", ">=")
_CALLS = {
    **dict.fromkeys(("len", "abs", "int", "list", "sorted", "str", "set"), 3.2),
    **dict.fromkeys(("sum", "max", "min", "round", "tuple", "float", "any", "all"), 3.8),
}
_METHODS = "lower upper strip copy items keys values split swapcase".split()
_CONSTANTS = ("0", "1", "-1", "True", "False", "None", "[]", "''")
_CONTAINER_ROLES = {"subscript value", "argument of len", "For iter", "comprehension iter"}
_CONTAINER_METHODS = {".append", ".add", ".pop", ".extend", ".get", ".items", ".popleft"}
_MAX_NAMES, _MAX_INTEGERS, _MAX_RENAMED_CHARS = 12, 4, 60
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)


def _numbers(scope: NameScope) -> list[str]:
    """Return the variables that may be numbers, those that are used as such first."""
    kinds = {name: scope.roles.get(name, frozenset()) for name in _variables(scope)}
    known = [n for n, k in kinds.items() if n in scope.integer_variables or "operand" in k]
    unknown = [n for n, k in kinds.items() if n not in known and not _is_container(k)]
    return [*known, *unknown]


def _containers(scope: NameScope) -> list[str]:
    return [name for name in _variables(scope) if _is_container(scope.roles.get(name, frozenset()))]


def _is_container(roles: frozenset[str]) -> bool:
    return bool(roles & (_CONTAINER_ROLES | _CONTAINER_METHODS))


def _variables(scope: NameScope) -> list[str]:
    return [name for name in (*scope.variables, *scope.constants) if name != "_"][:_MAX_NAMES]


def _facts(scope: NameScope) -> Iterator[tuple[str, float]]:
    """Yield conditions of one variable, each with its extra cost."""
    for name in _variables(scope):
        yield from ((name, 0.0), (f"not {name}", 0.0), (f"{name} is None", 0.3))
        yield f"{name} is not None", 0.6
    for text in scope.donors:
        if "." in text and "(" not in text:
            yield from ((text, 0.3), (f"{text} is None", 0.6), (f"not {text}", 0.6))


def _comparisons(scope: NameScope) -> Iterator[tuple[str, float]]:
    """Yield comparisons of what is in scope, each with its extra cost; those of the function first."""
    yield from ((text, 0.0) for text in scope.conditions)
    numbers = _numbers(scope)
    for name in numbers:
        for sign in _SIGNS:
            yield from ((f"{name} {sign} 0", 0.2), (f"{name} {sign} 1", 0.5))
            yield from ((f"{name} {sign} {number}", 0.5) for number in _find_integers(scope))
    for one, other in combinations(numbers, 2):
        yield from ((f"{one} {sign} {other}", 0.3) for sign in _SIGNS)
    for name in _containers(scope):
        yield from ((f"len({name}) {sign} {count}", 0.5) for sign in _SIGNS[::2] for count in "01")
        known = (*numbers, *_find_integers(scope))
        yield from ((f"len({name}) {sign} {i}", 0.6) for i in known for sign in ("==", "<", ">"))
        for other in _variables(scope):
            if other != name:
                yield from ((f"{other} in {name}", 0.4), (f"{other} not in {name}", 0.4))


def _find_integers(scope: NameScope) -> list[str]:
    """Return the integers of a function, but 0 and 1."""
    nodes = ast.walk(scope.function) if scope.function else ()
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    found = dict.fromkeys(str(i) for i in values if type(i) is int and i not in (0, 1))
    return list(found)[:_MAX_INTEGERS]


def _put(
    context: RepairContext, node: ast.expr, text: str, kind: str, cost: float
) -> CandidateEdit:
    """Return the edit that puts an expression in a node's place, in parentheses if in doubt."""
    needs_none = context.replacement_text(node) == context.text(node) and not isinstance(
        node, _ATOMS
    )
    is_free = isinstance(context.parent, (ast.Return, ast.Assign, ast.If, ast.While))
    simple = text.isidentifier() or needs_none or is_free or text.endswith((")", "]"))
    return context.edit(node, text if simple else f"({text})", kind, cost)


def _is_value(context: RepairContext, node: ast.expr) -> bool:
    """Return whether another expression may stand for a node."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) or context.is_field("func"):
        return False
    kinds = (ast.Expr, ast.JoinedStr, ast.FormattedValue, ast.keyword, ast.Slice)
    if isinstance(node, (ast.Slice, ast.Starred, ast.Lambda)):
        return False
    return not isinstance(context.parent, kinds[:3]) and context.scope.function is not None


@edit_operator()
def combine_with_variable(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Add, subtract, multiply, … a variable; take the larger or smaller of both."""
    if not _is_value(context, node) or not isinstance(node, (*_ATOMS, ast.BinOp)):
        return
    text = context.parenthesized_text(node)
    for name in _numbers(context.scope):
        if name == text:
            continue
        for sign, cost in (("-", 3.2), ("+", 3.2), ("*", 3.8), ("%", 4.0), ("//", 4.0)):
            yield _put(context, node, f"{text} {sign} {name}", "term", cost)
        yield _put(context, node, f"{name} - {text}", "term", 4.0)
        for call in ("max", "min"):
            yield _put(context, node, f"{call}({name}, {context.text(node)})", "bound", 3.4)
    for change in ("* 2", "// 2", "** 2", "/ 2"):
        yield _put(context, node, f"{text} {change}", "factor", 3.4)
    for call, bound in (("max", "0"), ("min", "0"), ("max", "1")):
        yield _put(context, node, f"{call}({bound}, {context.text(node)})", "bound", 3.6)


@edit_operator()
def wrap_in_call(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Pass an expression to a function; call a method of it; take a slice or an item of it."""
    if not _is_value(context, node) or isinstance(node, (ast.Constant, ast.Compare, ast.BoolOp)):
        return
    text, scope = context.text(node), context.scope
    item = context.parenthesized_text(node)
    for call, cost in _CALLS.items():
        yield _put(context, node, f"{call}({text})", "call", cost)
    for call in scope.functions:
        yield _put(context, node, f"{call}({text})", "call", 4.0)
    for method in _METHODS:
        yield _put(context, node, f"{item}.{method}()", "method", 4.2)
    bounds = [":", "1:", ":-1", "::-1", ":1", "0", "1", "-1"][1:]
    names = [part for name in _numbers(scope) for part in (f"{name}:", f":{name}", name)]
    for bound in (*bounds, *names):
        yield _put(context, node, f"{item}[{bound}]", "part", 3.9)


@edit_operator()
def replace_by_known(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Replace an expression by a variable, another expression of its function, or a constant."""
    if not _is_value(context, node):
        return
    scope, text = context.scope, context.text(node)
    if not isinstance(node, ast.Name):
        yield from (_put(context, node, i, "variable", 3.4) for i in _variables(scope))
    yield from (_put(context, node, i, "constant", 4.6) for i in _CONSTANTS if i != text)
    kind = type(node)
    for donor in scope.donors:
        is_alike = isinstance(ast.parse(donor, mode="eval").body, kind)
        yield _put(context, node, donor, "expression", 3.8 if is_alike else 4.4)


@edit_operator()
def combine_variables(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Return, assign, pass or index by an operation of two variables."""
    slots = (ast.Return, ast.Assign, ast.AugAssign, ast.Call, ast.Subscript, ast.Compare)
    if not _is_value(context, node) or not isinstance(context.parent, slots):
        return
    numbers = _numbers(context.scope)[:8]
    for one, other in permutations(numbers, 2):
        for sign, cost in (("-", 4.4), ("//", 5.0), ("%", 5.0)):
            yield _put(context, node, f"{one} {sign} {other}", "operation", cost)
    for one, other in combinations(numbers, 2):
        for sign, cost in (("+", 4.4), ("*", 4.6)):
            yield _put(context, node, f"{one} {sign} {other}", "operation", cost)
    for name in numbers:
        yield from (_put(context, node, f"{name} {i} 1", "operation", 4.2) for i in "+-")


@edit_operator()
def replace_any_arithmetic(
    context: RepairContext, node: ast.BinOp | ast.AugAssign
) -> Iterator[CandidateEdit]:
    """Use any other arithmetic operator."""
    left, right = (
        (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    )
    span = context.source.find_operator_span(left, right)
    if span is not None:
        end = "=" * isinstance(node, ast.AugAssign)
        for sign in ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"):
            yield context.edit_span(*span, f"{sign}{end}", "arithmetic", 3.1)


@edit_operator()
def change_condition(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Build a condition of comparisons and variables, or add one to it."""
    parent = context.parent
    is_test = isinstance(parent, (ast.If, ast.While, ast.IfExp)) and context.is_field("test")
    is_filter = isinstance(parent, ast.comprehension) and node in parent.ifs
    is_truth = isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, bool)
    )
    is_answer = isinstance(parent, ast.Return) and is_truth
    if not (is_test or is_filter or is_answer) or context.scope.function is None:
        return
    text = context.text(node) if not isinstance(node, ast.BoolOp) else f"({context.text(node)})"
    parts = chain(
        ((fact, 0.4 + cost) for fact, cost in _facts(context.scope)),
        ((fact, 1.0 + cost) for fact, cost in _comparisons(context.scope)),
    )
    for fact, cost in parts:
        yield context.edit(node, fact, "condition", 3.0 + cost)
        if isinstance(node, ast.Constant):
            continue
        for word in ("and", "or"):
            yield context.edit(node, f"({fact} {word} {text})", "condition", 3.2 + cost)
            yield context.edit(node, f"({text} {word} {fact})", "condition", 3.3 + cost)


@edit_operator()
def make_conditional(context: RepairContext, node: ast.expr) -> Iterator[CandidateEdit]:
    """Use an expression only where a condition holds, and a variable or constant elsewhere."""
    slots = (ast.Return, ast.Assign, ast.AugAssign, ast.ListComp, ast.GeneratorExp)
    if not _is_value(context, node) or not isinstance(context.parent, slots):
        return
    if isinstance(node, (ast.Constant, ast.IfExp)) or context.is_field("generators"):
        return
    text = context.text(node)
    for fact, cost in chain(_facts(context.scope), _comparisons(context.scope)):
        for other in (*_variables(context.scope), *_CONSTANTS):
            if other != text:
                choice = f"{text} if {fact} else {other}"
                yield _put(context, node, choice, "condition", 4.4 + cost)


@edit_operator()
def filter_items(context: RepairContext, node: ast.comprehension) -> Iterator[CandidateEdit]:
    """Add a condition to a comprehension that has none."""
    if node.ifs or context.scope.function is None:
        return
    end = context.source.span(node.iter)[1]
    for fact, cost in chain(_facts(context.scope), _comparisons(context.scope)):
        yield context.edit_span(end, end, f" if {fact}", "filter", 3.8 + cost)


@edit_operator()
def build_statement(context: RepairContext, node: ast.stmt) -> Iterator[CandidateEdit]:
    """Insert a statement that is built from what is in scope."""
    body, lines = find_containing_body(context), find_statement_lines(context, node)
    if body is None or lines is None or context.scope.function is None:
        return
    if isinstance(node, FunctionNode):
        return
    is_last = node is body[-1] and not is_jump_statement(node)
    in_loop = any(isinstance(item, (ast.For, ast.While)) for item in context.ancestors)
    for text, cost in _statements(context.scope, in_loop):
        yield insert_before(context, lines, text, "statement", cost)
        if is_last and lines.end:
            yield insert_after(
                context, lines, text.replace("\n", f"\n{lines.indent}"), "statement", cost
            )


def _statements(scope: NameScope, in_loop: bool) -> Iterator[tuple[str, float]]:
    names = _variables(scope)
    stored = [name for name in names if name in scope.variables]
    for one, other in permutations(names, 2):
        if one not in stored:
            continue
        cost = 3.3 if _is_container(scope.roles.get(one, frozenset())) else 4.4
        yield from ((f"{one}.{method}({other})", cost) for method in ("append", "add"))
        yield f"{one} = {other}", 4.0
        yield from ((f"{one} {sign} {other}", 4.6) for sign in ("+=", "-="))
    yield from ((text, 4.0) for text in _rename_statements(scope))
    for name in stored:
        yield from ((f"{name} += 1", 3.8), (f"{name} -= 1", 4.0), (f"{name} = not {name}", 4.4))
        yield from ((f"{name} = {value}", 4.4) for value in ("0", "[]", "''"))
    results = (*names, "True", "False", "0", "None", "[]", "''", "-1")
    for fact, cost in chain(_facts(scope), _comparisons(scope)):
        if in_loop:
            yield from ((f"if {fact}:\n    {word}", 4.8 + cost) for word in ("continue", "break"))
        yield from ((f"if {fact}:\n    return {result}", 5.2 + cost) for result in results)


def _rename_statements(scope: NameScope) -> Iterator[str]:
    """Yield statements of the function with one or two variables in place of others."""
    for text in scope.function_statements:
        if len(text) > _MAX_RENAMED_CHARS:
            continue
        used = dict.fromkeys(_NAME.findall(text))
        swaps = [
            (one, other)
            for one in used
            for other in _variables(scope)
            if one != other and scope.has_common_role(one, other)
        ]
        for swap in chain(((item,) for item in swaps), combinations(swaps, 2)):
            renames = dict(swap)
            if len(renames) == len(swap):
                yield _rename(text, renames)


def _rename(text: str, names: dict[str, str]) -> str:
    return _NAME.sub(lambda found: names.get(found[0], found[0]), text)


WIDE_OPERATORS: tuple[Operator[CandidateEdit], ...] = (
    *(combine_with_variable, wrap_in_call, replace_by_known, combine_variables),
    *(replace_any_arithmetic, change_condition, make_conditional, filter_items, build_statement),
)
