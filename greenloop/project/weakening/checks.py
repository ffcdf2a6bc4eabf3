"""Checks of a test: the conditions that can make it fail, with their strength and place."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from greenloop.project.weakening.assertions import (
    Helpers,
    find_conditions,
    name_raised,
    read_waiting,
    spread_quantifier,
)
from greenloop.project.weakening.bindings import (
    Bindings,
    bind_arguments,
    bind_names,
    bind_target,
    read_called,
    resolve,
)
from greenloop.project.weakening.cases import Case, list_items
from greenloop.project.weakening.conditions.bounds import Bound, list_bounds, read_patterns
from greenloop.project.weakening.conditions.strength import (
    Strength,
    find_subject,
    grade,
    grade_call,
    is_check_call,
    turn,
)
from greenloop.project.weakening.machines import holds_here
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.skips import (
    goes_on,
    hides_failure,
    is_failing,
    is_missing,
    list_suppressed,
    waits_for_error,
)
from greenloop.syntax.nodes import Definition, Function

# Tests check the type and message of an error in several forms; these names do not tell them apart.
_OF_ERROR = frozenset("raised value str message category issubclass len".split())
_POSITIONS = frozenset({"0", "1"})  # index and number of a single warning
MAX_CHECKS = 1000  # per test, so that reading a file takes seconds at most


@dataclass(frozen=True)
class Check:
    """One check: its text, the tested value, the strength, and what may keep it from running.

    `text` and `subject` have names replaced by their assigned values and by the values of a case;
    `shown` only by the values of a case. `skip` is why the case may not run.
    """

    text: str
    subject: str
    strength: Strength
    line: int = field(compare=False)
    shown: str = field(default="", compare=False)
    values: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    bounds: tuple[Bound, ...] = ()
    conditions: int = 0  # the number of conditions around the check
    skip: str = ""


@dataclass(frozen=True)
class _Scope:
    """Values of names at a place in a test, and the helper functions that are visible there.

    `case` has the values of the case only. `inlined` helpers are read in place of their calls.
    """

    bound: dict[str, ast.expr]
    helpers: Helpers
    inlined: frozenset[str]
    case: Bindings = field(default_factory=dict)

    def enter(self, values: Mapping[str, ast.expr], *without: str) -> "_Scope":
        bound, case = {**self.bound, **values}, {**self.case, **values}
        return _Scope(bound, self.helpers, self.inlined.difference(without), case)


def list_checks(
    body: list[ast.stmt],
    bound: Bindings,
    case: Case,
    helpers: Helpers,
    inlined: frozenset[str],
) -> Iterator[Check]:
    """Yield the checks of a function's body in a case, in order, without those of nested functions.

    `bound` are the values of names from outside the function. A call of a checking function, of
    `helpers` or nested, is a check; a call of an `inlined` one is replaced by its checks. A check
    in a loop over a literal list is yielded once per item. Names that the body defines do not count
    as names of a check, as they can be chosen freely.
    """
    scope = _Scope(dict(bound), {**helpers, **find_helpers(body)}, inlined).enter(case.values)
    nodes = (node for part in body for node in ast.walk(part))
    own = {name for node in nodes for name in _list_own_names(node)}
    for check in _walk(body, scope, 0):
        names = check.names - own - {"pytest"}
        values = check.values
        if "raised" in names:
            names, values = names - _OF_ERROR, values - _POSITIONS
        yield replace(check, names=names, values=values, skip=case.skip)


def _list_own_names(node: ast.AST) -> list[str]:
    """Return the name that a definition or the `as` of a `with` introduces."""
    match node:
        case ast.withitem(optional_vars=ast.Name(id=name)):
            return [name]
    return [node.name] if isinstance(node, Definition) else []


def find_helpers(body: list[ast.stmt]) -> dict[str, Function]:
    """Return the functions in a body, by name, that contain assertions and are no tests."""
    functions = (node for node in body if isinstance(node, Function))
    return {i.name: i for i in functions if not i.name.startswith("test") and _is_asserting(i)}


def _is_asserting(function: Function) -> bool:
    nodes = ast.walk(function)
    return any(
        isinstance(i, ast.Assert) or (isinstance(i, ast.expr) and is_check_call(i)) for i in nodes
    )


def _enter_helper(node: ast.stmt, scope: _Scope) -> tuple[list[ast.stmt], _Scope] | None:
    """Return the body of a helper to read in place of its call, and its scope; None for others."""
    match node:
        case ast.Expr(value=ast.Await(value=ast.Call() as call) | (ast.Call() as call)):
            name = read_called(call)
            if name in scope.inlined and (function := scope.helpers.get(name)) is not None:
                given = bind_arguments(function.args, resolve(call, scope.bound))
                return function.body, scope.enter(given, name)
    return None


def _walk(body: list[ast.stmt], scope: _Scope, conditions: int) -> Iterator[Check]:
    for node in map(spread_quantifier, body):
        if (inner := _enter_helper(node, scope)) is not None:
            yield from _walk(*inner, conditions)
            continue
        if isinstance(node, ast.Try) and (waiting := read_waiting(node)):
            yield from _walk(waiting, scope, conditions)
            continue
        yield from _read_statement(node, scope, conditions)
        bind_names(node, scope.bound)
        scope.bound.update(name_raised(node))
        if isinstance(node, ast.If):
            may_end = 0
            for part, runs in _list_branches(node, resolve(node.test, scope.bound)):
                more = 0 if runs is True or _is_elif(part) else _count_conditions(node.test)
                yield from _walk(part, scope, conditions + more)
                may_end |= _leaves(part) and runs is not False
            conditions += may_end
        elif isinstance(node, ast.Try):
            is_caught = any(map(hides_failure, node.handlers))
            left = [i for i in node.handlers if goes_on(i) and not is_missing(i)]
            may_end = is_caught or bool(left) or _leaves(node.finalbody)
            yield from _walk(node.body, scope, conditions + may_end)
            yield from _walk(node.orelse, scope, conditions + is_caught)
            yield from _walk(node.finalbody, scope, conditions)
            may_not = not any(map(is_failing, [*node.body, *node.orelse]))
            for handler in node.handlers:
                yield from _walk(handler.body, scope, conditions + may_not)
            conditions += any(_leaves(item.body) for item in left)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            ended = [list_suppressed(item, scope.bound) for item in node.items]
            may_end = any(ended) or any(map(waits_for_error, node.items))
            yield from _walk(node.body, scope, conditions + may_end)
        elif isinstance(node, ast.For) and (items := list_items(node.iter, scope.bound)):
            is_left = any(isinstance(item, (ast.Break, ast.Return)) for item in node.body)
            for item in items[:1] if is_left else items:
                values = dict(bind_target(node.target, resolve(item, scope.bound)))
                yield from _walk(node.body, scope.enter(values), conditions)
            yield from _walk(node.orelse, scope, conditions)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            more = int(_may_be_empty(node, scope.bound))
            yield from _walk([*node.body, *node.orelse], scope, conditions + more)
        elif isinstance(node, (ast.Return, ast.Continue, ast.Break)):
            return


def _list_branches(node: ast.If, test: ast.expr) -> list[tuple[list[ast.stmt], bool | None]]:
    """Return both branches, and whether each runs on this machine (None if unknown)."""
    is_here = holds_here(test)
    return [(node.body, is_here), (node.orelse, None if is_here is None else not is_here)]


def _is_elif(part: list[ast.stmt]) -> bool:
    return len(part) == 1 and isinstance(part[0], ast.If)


def _count_conditions(test: ast.expr) -> int:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return len(values)
    return 1


def _may_be_empty(node: ast.For | ast.AsyncFor | ast.While, bound: Bindings) -> bool:
    """Return whether a loop may have no iteration: over an empty or filtered collection."""
    if isinstance(node, ast.While):
        return isinstance(node.test, ast.Constant) and not node.test.value
    match resolve(node.iter, bound):
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts):
            return any(part.ifs for part in parts)
        case ast.GeneratorExp(generators=parts) | ast.DictComp(generators=parts):
            return any(part.ifs for part in parts)
        case ast.Call(func=ast.Name(id="filter")) | ast.Subscript(slice=ast.Slice()):
            return True
        case several:
            return ast.unparse(several) in ("[]", "()", "{}", "''", "range(0)", "set()")


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Continue, ast.Break))


def _read_statement(node: ast.stmt, scope: _Scope, conditions: int) -> Iterator[Check]:
    """Yield the checks that a statement makes itself, without those of its body."""
    for condition, inner in find_conditions(node, scope.bound, scope.helpers):
        whole, *body = resolve(ast.Module([ast.Expr(condition), *inner], []), scope.bound).body
        assert isinstance(whole, ast.Expr)
        test = whole.value
        # Assigning the evaluated expression to a name has no influence on the raised error.
        parts = (item.value if isinstance(item, ast.Assign) else item for item in body)
        inside = "\n".join(map(ast.unparse, parts))
        is_call = is_check_call(test) or scope.helpers.get(read_called(test)) is not None
        text = ast.unparse(turn(test)).removeprefix("pytest.")
        told = ast.Module([whole, *body], [])
        yield Check(
            f"{text}: {inside}" if inside else text,
            inside or find_subject(test, is_call),
            grade_call(test) if isinstance(test, ast.Call) and is_call else grade(test),
            node.lineno,
            shown=ast.unparse(resolve(condition, scope.case)),
            values=list_values(told) | read_patterns(test),
            names=list_names(told),
            bounds=list_bounds(test),
            conditions=conditions,
        )
