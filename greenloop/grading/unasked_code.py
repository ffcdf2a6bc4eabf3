"""Lines that a class has by convention, which neither a test nor the contract need ask for.

Debuggers print `__repr__`, containers call `__hash__`, and `return NotImplemented` leaves an
operation to the other operand. If no test depends on such a line and the contract does not name it,
the line is listed, and neither its coverage nor its mutants count.
"""

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import Function, list_lines
from greenloop.syntax.parse import parse_or_empty

_CONVENTIONAL_METHODS = {"__repr__": "repr", "__hash__": "hash"}
_NOT_IMPLEMENTED = "NotImplemented"


def find_unasked_lines(code: str, contract: str = "") -> dict[int, str]:
    """Return the reason for each such line, by number, except lines that the contract names."""
    nodes = ast.walk(parse_or_empty(code))
    members = (item for node in nodes if isinstance(node, ast.ClassDef) for item in node.body)
    methods = (item for item in members if isinstance(item, Function))
    return dict(pair for item in methods for pair in _find_in_method(item, contract.lower()))


def _find_in_method(method: Function, contract: str) -> Iterator[tuple[int, str]]:
    word = _CONVENTIONAL_METHODS.get(method.name)
    if word and word not in contract:
        for statement in method.body:
            yield from _mark_lines(statement, f"in `{method.name}`")
    elif method.name.startswith("__") and _NOT_IMPLEMENTED.lower() not in contract:
        for node in ast.walk(method):
            if _returns_not_implemented(node):
                yield from _mark_lines(node, f"`{_NOT_IMPLEMENTED}` in `{method.name}`")


def _returns_not_implemented(node: ast.AST) -> bool:
    """Whether a node is `return NotImplemented`, or an `if` that guards nothing else."""
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:
        node = node.body[0]
    if not isinstance(node, ast.Return):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == _NOT_IMPLEMENTED


def _mark_lines(node: ast.AST, where: str) -> Iterator[tuple[int, str]]:
    why = f"{where}, which neither a test nor the contract asks for"
    if isinstance(node, ast.stmt):
        yield from ((line, why) for line in list_lines(node))
