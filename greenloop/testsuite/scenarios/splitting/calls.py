"""Calls by which the process of the code reports what it sees"""

from __future__ import annotations

import ast
import builtins
from types import MappingProxyType

from greenloop.testsuite.scenarios.names import children, get_dotted_name, walk
from greenloop.testsuite.scenarios.nodes import call_of, expression
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Scope
from greenloop.testsuite.scenarios.splitting.expressions import Observation

_PRINTING = frozenset({"print", "pprint", "pprint.pprint", "sys.stdout.write", "sys.stderr.write"})
_LOGGING = frozenset("debug info warning warn error critical exception log".split())
_CHANGING = frozenset({"setattr", "delattr", "next"})
_ORDERS = MappingProxyType({ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"})


def observe_call(item: Observation) -> ast.expr:
    """Return the call that evaluates an expression and reports it."""
    functions: list[ast.expr] = [ast.Constant(key) for key in item.functions]
    value, template = item.value, "observe__(_n, lambda: _v, *_f)"
    if isinstance(value, ast.Await):
        value, template = value.value, "await observe_awaited__(_n, lambda: _v, *_f)"
    if any(isinstance(part, (ast.Await, ast.Yield, ast.NamedExpr)) for part in walk(value)):
        raise RefusedError("an expression that cannot stand in a lambda")
    made = expression(template, _n=ast.Constant(item.number), _v=value)
    call = made.value if isinstance(made, ast.Await) else made
    assert isinstance(call, ast.Call)
    call.args[2:] = functions
    return made


def mutation_call(target: ast.Attribute | ast.Subscript, value: ast.expr | None) -> ast.expr:
    verb = "set" if value is not None else "del"
    if isinstance(target, ast.Attribute):
        key: ast.expr = ast.Constant(target.attr)
        function = f"{verb}attr"
    elif isinstance(target.slice, ast.Slice):
        raise RefusedError("an assignment to a slice", target.lineno)
    else:
        key, function = target.slice, f"operators__.{verb}item"
    arguments = [target.value, key, *([value] if value is not None else [])]
    return ast.Call(expression(function), arguments, [])


def order_as_call(node: ast.expr, scope: Scope, raising: list[int] | None) -> ast.expr:
    """Return an order of instances of the module's classes as a call, anything else as it is.

    Where only an exception is expected, its second operand is an input: `raising` are the numbers
    of what may raise it, None elsewhere.
    """
    if raising is None or not isinstance(node, ast.Compare) or not scope.is_object(node.left):
        return node
    operator = _ORDERS.get(type(node.ops[0]))
    if operator is None or len(node.ops) > 1:
        return node
    return ast.Call(expression(f"operators__.{operator}"), [node.left, *node.comparators], [])


def root_name(node: ast.AST) -> str:
    """Return the name whose object a statement may change, '' for none.

    Built-in functions change nothing but, for some, their first argument: `print(expected)` stays
    behind.
    """
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and hasattr(builtins, function.id):
            arguments = node.args if isinstance(node, ast.Call) else []
            return root_name(arguments[0]) if arguments and function.id in _CHANGING else ""
        node = function or node.value  # type: ignore[union-attr]
    return node.id if isinstance(node, ast.Name) else ""


def calls_in_output(node: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """Return the calls of the code among what a statement prints or logs; None for others.

    Only these are observed: what is printed beside them may be what the test expects.
    """
    called = get_dotted_name(node.func) if isinstance(node, ast.Call) else ""
    owner, _, method = called.rpartition(".")
    is_log = method in _LOGGING and (owner in scope.loggers or owner == "logging")
    if called not in _PRINTING and not is_log:
        return None
    return [call for part in children(node) for call in _find_calls(part, scope)]


def _find_calls(node: ast.AST, scope: Scope) -> list[ast.expr]:
    if isinstance(node, (ast.Call, ast.Await)) and scope.is_dependent(node):
        return [node]
    return [call for part in children(node) for call in _find_calls(part, scope)]


def mark(node: ast.stmt) -> ast.stmt:
    """Return the statement that says which line of the test file is judged."""
    return ast.Expr(call_of("at__", node.lineno))


def take(number: int) -> ast.stmt:
    """Return the statement by which the process of the tests takes an observation."""
    return ast.Assign([ast.Name(f"seen__{number}", ast.Store())], call_of("take__", number))
