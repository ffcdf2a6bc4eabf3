"""Inventory of a script: definitions, options and outputs that a repair must keep."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from greenloop.scripts.cli_options import Option, find_options, find_options_by_pattern
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import PARSE_ERRORS

_WORD = re.compile(r"[^\W\d_]{2,}")
_FORMAT_FIELD = re.compile(r"%(\(\w+\))?[-+ #0]*[\d*]*(\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}")
_DEFINITION_PATTERN = re.compile(r"^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_OUTPUT_PATTERN = re.compile(
    r"""\b(?:print|write|echo|debug|info|warning|error)\b[ \t]*\(?[ \t]*[fFuUrRbB]{0,2}"""
    r"""(?:'([^'\n]*)'|"([^"\n]*)")"""
)
_OUTPUT_FUNCTIONS = frozenset({"print", "echo", "secho", "write"})
_LOG_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "exception", "log"}
)


@dataclass(frozen=True)
class OutputCall:
    """An output call: its text (or its arguments as source) and the words in it."""

    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Inventory:
    """The inventory of a source."""

    # Bodies as source, by name (`Class.method`).
    definitions: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    outputs: tuple[OutputCall, ...] = ()
    texts: frozenset[str] = frozenset()  # all string constants
    is_exact: bool = True  # False: found by patterns, methods by bare names, `texts` is the source


def build_inventory(source: str) -> Inventory:
    """Return the inventory of a source, from its syntax tree, or by patterns if it does not parse."""
    try:
        return _inventory_from_tree(ast.parse(source))
    except PARSE_ERRORS:
        return _inventory_from_patterns(source)


def _inventory_from_tree(tree: ast.Module) -> Inventory:
    found = list(_iter_definitions(tree.body, ""))
    return Inventory(
        definitions={name: "\n".join(map(ast.unparse, node.body)) for name, node in found},
        kinds={name: _definition_kind(name, node) for name, node in found},
        options=tuple(find_options(tree)),
        outputs=tuple(_build_output_call(node) for node in ast.walk(tree) if _is_output_call(node)),
        texts=frozenset(_iter_texts(tree)),
    )


def _inventory_from_patterns(source: str) -> Inventory:
    found = {name: keyword for keyword, name in _DEFINITION_PATTERN.findall(source)}
    texts = (single or double for single, double in _OUTPUT_PATTERN.findall(source))
    outputs = (OutputCall(text, frozenset(extract_words(text))) for text in texts)
    return Inventory(
        definitions=dict.fromkeys(found, ""),
        kinds={name: "class" if word == "class" else "function" for name, word in found.items()},
        options=tuple(find_options_by_pattern(source)),
        outputs=tuple(item for item in outputs if item.words),
        texts=frozenset({source}),
        is_exact=False,
    )


def _iter_definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
    """Yield definitions of modules and classes, also below `if` and `try`, but not in functions."""
    for node in body:
        if isinstance(node, Definition):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from _iter_definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            inner = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.stmt)]
            yield from _iter_definitions(inner, prefix)


def _definition_kind(name: str, node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        return "class"
    return "method" if "." in name else "function"


def _is_output_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _OUTPUT_FUNCTIONS
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in _OUTPUT_FUNCTIONS:
        return True
    return node.func.attr in _LOG_METHODS and "log" in ast.unparse(node.func.value).lower()


def _build_output_call(node: ast.AST) -> OutputCall:
    assert isinstance(node, ast.Call)
    text = " ".join(part for item in node.args for part in _iter_texts(item))
    shown = text if extract_words(text) else ", ".join(ast.unparse(item) for item in node.args)
    return OutputCall(shown, frozenset(extract_words(text)))


def _iter_texts(node: ast.AST) -> Iterator[str]:
    """Yield the string constants below a node in order, without keys of subscripts."""
    if isinstance(node, ast.Subscript):
        yield from _iter_texts(node.value)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _iter_texts(child)


def extract_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without format fields."""
    return [item.lower() for item in _WORD.findall(_FORMAT_FIELD.sub(" ", text))]
