"""Mending of generated tests without a model: invalid tests are dropped, imports corrected."""

import ast
import textwrap
from collections.abc import Collection, Iterator

from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_none


def mend_tests(source: str, module: str, names: Collection[str]) -> str:
    """Return a test file whose tests can be collected and test `names` of a module.

    Tests that do not parse are dropped one by one, and copies of the module's definitions are
    removed. A wrong or missing import of the names becomes one from the module.
    """
    tree = parse_or_none(source)
    if tree is None:
        source = "".join(_keep_valid_parts(source))
        tree = parse_or_none(source)
    if tree is None or not names:
        return source
    copied = [node for node in tree.body if isinstance(node, Definition) and node.name in names]
    wrong = [node for node in tree.body if _imports_from_elsewhere(node, module, names)]
    if not copied and not wrong and _imports(tree, module):
        return source
    kept = _without_nodes(source, [*copied, *wrong])
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    wanted = [name for name in names if name in used]
    if not wanted:
        return kept
    return f"from {module} import {', '.join(wanted)}\n{kept}"


def wrap_assertions(source: str) -> str:
    """Return bare assertions as tests: one each, or one for all if there are other statements.

    A source that has a test function is returned unchanged.
    """
    tree = parse_or_none(source) or parse_or_none("".join(_keep_valid_parts(source)))
    if tree is None or "def test" in source:
        return source
    given = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    body = [node for node in tree.body if node not in given]
    if not any(isinstance(node, ast.Assert) for node in body):
        return source
    is_apart = all(isinstance(node, ast.Assert) for node in body)
    groups = [[node] for node in body] if is_apart else [body]
    lines = [ast.unparse(node) for node in given]
    for number, group in enumerate(groups, 1):
        shown = "\n".join(ast.unparse(node) for node in group)
        lines.append(f"\n\ndef test_{number}():\n{textwrap.indent(shown, '    ')}")
    return "\n".join(lines) + "\n"


def _keep_valid_parts(source: str) -> Iterator[str]:
    """Yield the top-level statements of a source that parse, each with its decorators."""
    part: list[str] = []
    is_decorated = False
    for line in [*source.expandtabs(4).split("\n"), "end"]:
        begins = bool(line.strip()) and not line[0].isspace() and line[0] not in ")]}#"
        if begins and not is_decorated:
            text = "\n".join(part) + "\n"
            if parse_or_none(text) is not None:
                yield text
            part = []
        part.append(line)
        if begins:
            is_decorated = line.startswith("@")


def _imports(tree: ast.Module, module: str) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            return True
        if isinstance(node, ast.Import) and any(item.name == module for item in node.names):
            return True
    return False


def _imports_from_elsewhere(node: ast.stmt, module: str, names: Collection[str]) -> bool:
    """Return whether a statement imports only the module's names, from a module of another name."""
    return (
        isinstance(node, ast.ImportFrom)
        and node.module != module
        and all(item.name in names for item in node.names)
    )


def _without_nodes(source: str, nodes: Collection[ast.stmt]) -> str:
    lines = source.split("\n")
    for node in sorted(nodes, key=lambda item: -item.lineno):
        marks = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(item.lineno for item in marks)])
        del lines[first - 1 : node.end_lineno]
    return "\n".join(lines)
