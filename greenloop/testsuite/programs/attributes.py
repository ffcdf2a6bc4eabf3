"""Check of attributes that `self` and fixtures lack in a process without a test framework."""

import ast

from greenloop.syntax.nodes import Function
from greenloop.testsuite.programs.flattening import FlatTest
from greenloop.testsuite.programs.records import RefusedError

_FIXTURE_ATTRIBUTES = {
    "monkeypatch": "setattr delattr setitem delitem setenv delenv chdir context".split(),
    "capsys": ["readouterr"],
}


def check_attributes(node: ast.AST, flat: FlatTest, seen: set[str]) -> None:
    """Raise RefusedError for a missing attribute in a node, or in the methods that it uses.

    `seen` are names of methods that were checked.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        _check(node, node.value.id, flat)
        method = (flat.attributes or {}).get(node.attr) if node.value.id == "self" else None
        if isinstance(method, Function) and node.attr not in seen:
            seen.add(node.attr)
            for item in method.body:
                check_attributes(item, flat, seen)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ClassDef):  # its methods have another `self`
            check_attributes(child, flat, seen)


def _check(node: ast.Attribute, owner: str, flat: FlatTest) -> None:
    provided = _FIXTURE_ATTRIBUTES.get(owner)
    if owner in flat.fixtures and provided and node.attr not in provided:
        raise RefusedError(f"{owner}.{node.attr}", node)
    is_read = isinstance(node.ctx, ast.Load) and not node.attr.startswith("__")
    known = flat.attributes
    if owner == "self" and is_read and known is not None and node.attr not in known:
        raise RefusedError(f"self.{node.attr}, which is not in the file", node)
