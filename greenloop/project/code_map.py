"""Stand-in for the map of a project."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from greenloop.syntax.parse import parse_or_none


def build_code_map(texts: Mapping[str, str], wish: str, tokens: int) -> str:
    return "\n".join(f"{path}:\n{_signatures(text)}" for path, text in sorted(texts.items()))[
        : tokens * 4
    ]


def list_signatures(
    texts: Mapping[str, str], paths: Collection[str], *, imported: bool = False
) -> str:
    if imported:
        return ""
    return "\n".join(f"{path}:\n{_signatures(texts[path])}" for path in paths)


def _signatures(text: str) -> str:
    tree = parse_or_none(text)
    return "\n".join(_lines(tree.body, "  ")) if tree else ""


def _lines(body: list[ast.stmt], indent: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{indent}def {node.name}({ast.unparse(node.args)})"
        elif isinstance(node, ast.ClassDef):
            yield f"{indent}class {node.name}"
            yield from _lines(node.body, indent + "  ")
