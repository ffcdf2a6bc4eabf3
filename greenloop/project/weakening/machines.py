"""Conditions on the machine that runs tests: operating system, Python, installed packages."""

import ast
import operator
import os
import platform
import re
import sys
from collections.abc import Callable
from typing import Any

_ABOUT_MACHINE = re.compile(
    r"\b(sys\.platform|platform|\w*version_info|__version__|hexversion|os\.name|os\.access|which"
    r"|find_spec|hasattr|implementation|getuid|geteuid|win|linux|darwin|macos|posix|pypy|cpython|py\d+\w*|python_?3\w*"
    r"|is_?(windows|win32|linux|macos|pypy\w*|root)|capabilit\w+|(\w+_)?(has|have|can|supports?|accepts?|needs)_\w+"
    r"|\w+_(available|installed|missing|supported|version))\b",
    re.IGNORECASE,
)
_KNOWN: dict[str, Any] = {
    "sys.platform": sys.platform,
    "os.name": os.name,
    "platform.system()": platform.system(),
    "platform.python_implementation()": platform.python_implementation(),
    "sys.implementation.name": sys.implementation.name,
    "sys.version_info": tuple(sys.version_info),
    "sys.version_info[:2]": tuple(sys.version_info[:2]),
    "sys.version_info[0]": sys.version_info.major,
    "sys.version_info.major": sys.version_info.major,
}
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def is_about_machine(condition: ast.expr) -> bool:
    """Return whether a condition depends on the machine; a constant such as True does not."""
    match condition:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(is_about_machine, values))
        case ast.BoolOp(values=values):
            return all(map(is_about_machine, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_about_machine(operand)
        case ast.Compare(left=ast.Name(), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return True  # `x is None` after a failed import of an optional package
        case ast.Constant(value=str(text)):  # pytest evaluates a text as a condition
            return bool(_ABOUT_MACHINE.search(text))
        case ast.Constant():
            return False
    return bool(_ABOUT_MACHINE.search(ast.unparse(condition)))


def holds_here(condition: ast.expr) -> bool | None:
    """Return the value of a constant, or of a condition on system and Python; None if unknown."""
    match condition:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = holds_here(operand)
            return None if inner is None else not inner
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            return _compare(ast.unparse(left), operation, right)
        case ast.Call(
            func=ast.Attribute(value=owner, attr="startswith"),
            args=[ast.Constant(value=str(start))],
        ):
            known = _KNOWN.get(ast.unparse(owner))
            return known.startswith(start) if isinstance(known, str) else None
    return None


def _compare(left: str, operation: ast.cmpop, right: ast.expr) -> bool | None:
    """Return the result of comparing a known fact of the machine, or a literal, with a literal."""
    compare = _OPERATORS.get(type(operation))
    if compare is None:
        return None
    try:
        value = _KNOWN[left] if left in _KNOWN else ast.literal_eval(left)
        return compare(value, ast.literal_eval(right))
    except (ValueError, TypeError, SyntaxError):  # no literal, or types without an order
        return None
