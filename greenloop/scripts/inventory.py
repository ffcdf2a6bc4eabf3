"""What a script has that a repair must not lose: definitions, options, outputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from greenloop.scripts.cli_options import Option, options_in, options_of

_WORD = re.compile(r"[^\W\d_]{2,}")
_FIELD = re.compile(r"%(\(\w+\))?[-+ #0]*[\d*]*(\.[\d*]+)?[a-zA-Z]|\{[^{}]*\}")
_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
_PRINTED = re.compile(
    r"""\b(?:print|write|echo|debug|info|warning|error)\b[ \t]*\(?[ \t]*[fFuUrRbB]{0,2}"""
    r"""(?:'([^'\n]*)'|"([^"\n]*)")"""
)
_WRITERS = frozenset({"print", "echo", "secho", "write"})
_LOGGED = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})


@dataclass(frozen=True)
class Output:
    """One call that puts something out: its text, or what it shows as written, and the words."""

    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Inventory:
    """`defined` maps each function, class and method (`Class.method`) to what it is made of, as text.

    `texts` are all its texts. `exact` is False where the source does not parse and was read by
    patterns: then methods stand there by their bare names, and `texts` is the source as a whole.
    """

    defined: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    outputs: tuple[Output, ...] = ()
    texts: frozenset[str] = frozenset()
    exact: bool = True

    @property
    def bare_names(self) -> frozenset[str]:
        return frozenset(name.rpartition(".")[2] for name in self.defined)


def inventory(source: str) -> Inventory:
    """All that a source has, from its syntax tree, or by patterns where it has none."""
    try:
        return _by_tree(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _by_patterns(source)


def _by_tree(tree: ast.Module) -> Inventory:
    found = list(_definitions(tree.body, ""))
    return Inventory(
        defined={name: _body(node) for name, node in found},
        kinds={name: _kind(name, node) for name, node in found},
        options=tuple(options_of(tree)),
        outputs=tuple(_output(node) for node in ast.walk(tree) if _puts_out(node)),
        texts=frozenset(_texts(tree)),
    )


def _by_patterns(source: str) -> Inventory:
    found = {name: keyword for keyword, name in _DEFINED.findall(source)}
    texts = [single or double for single, double in _PRINTED.findall(source)]
    return Inventory(
        defined=dict.fromkeys(found, ""),
        kinds={name: "class" if word == "class" else "function" for name, word in found.items()},
        options=tuple(options_in(source)),
        outputs=tuple(Output(text, frozenset(words_of(text))) for text in texts if words_of(text)),
        texts=frozenset({source}),
        exact=False,
    )


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, _Definition]]:
    """Of modules and classes, also below `if` and `try`; not what functions hold inside."""
    for node in body:
        if isinstance(node, _Definition):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            inner = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.stmt)]
            yield from _definitions(inner, prefix)


def _kind(name: str, node: _Definition) -> str:
    if isinstance(node, ast.ClassDef):
        return "class"
    return "method" if "." in name else "function"


def _body(node: _Definition) -> str:
    return "\n".join(ast.unparse(item) for item in node.body)


def _puts_out(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _WRITERS
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in _WRITERS:
        return True
    return node.func.attr in _LOGGED and "log" in ast.unparse(node.func.value).lower()


def _output(node: ast.AST) -> Output:
    assert isinstance(node, ast.Call)
    text = " ".join(part for item in node.args for part in _texts(item))
    shown = text if words_of(text) else ", ".join(ast.unparse(item) for item in node.args)
    return Output(shown, frozenset(words_of(text)))


def _texts(node: ast.AST) -> Iterator[str]:
    """The text constants below a node, in their order; keys of subscripts are none."""
    if isinstance(node, ast.Subscript):
        yield from _texts(node.value)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def words_of(text: str) -> list[str]:
    """Words in lower case; fields to be filled in are none."""
    return [item.lower() for item in _WORD.findall(_FIELD.sub(" ", text))]
