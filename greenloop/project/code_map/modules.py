"""Syntax of a project's modules: definitions, the names that they read, and imports."""

import ast
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from greenloop.syntax.nodes import (
    Function,
    get_assigned_targets,
    get_last_name,
    get_line_span,
)
from greenloop.syntax.parse import parse_or_none
from greenloop.syntax.source import LINE_END
from greenloop.testsuite.parser import is_test_path

_MAX_DOC_CHARS, _MAX_VALUE_CHARS = 100, 40
_SHOWN_DECORATORS = frozenset({"property", "cached_property", "classmethod", "staticmethod"})
_OTHER_FORMS = frozenset({"setter", "deleter", "overload"})  # of a name with a main definition
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_SUBWORD = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]+|[a-z]|\d+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class, method or constant."""

    path: str
    name: str  # of a method: `Class.method`
    head: str  # the signature, or the shortened line of a constant
    doc: str
    lines: range
    reads: frozenset[str]  # `total`, `prices.total`, `.total` for an attribute of a value
    words: frozenset[str]

    @property
    def is_public(self) -> bool:
        return not any(part[:1] == "_" and part[:2] != "__" for part in self.name.split("."))


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: `name` is '' for a whole module, `*` for all names of one."""

    module: str
    level: int
    name: str
    alias: str


@dataclass(frozen=True)
class Module:
    """A Python file of a project; `parses` is false if it has no syntax tree."""

    path: str
    doc: str = ""
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    reads: frozenset[str] = field(default_factory=frozenset)
    parses: bool = True

    @property
    def is_test(self) -> bool:
        return is_test_path(self.path)


@lru_cache(maxsize=2048)  # one run reads a project several times
def parse_module(path: str, text: str) -> Module:
    """Return the definitions, reads and imports of a file."""
    tree = parse_or_none(text)
    try:
        return (
            _read_module(path, tree, LINE_END.split(text)) if tree else Module(path, parses=False)
        )
    except RecursionError:  # expressions that are nested hundreds of times
        return Module(path, parses=False)


def _read_module(path: str, tree: ast.Module, lines: list[str]) -> Module:
    found = _find_definitions(tree.body, path, lines, "")
    definitions = tuple({item.name: item for item in found}.values())  # the last of branches wins
    loose = [node for node in tree.body if not isinstance(node, (Function, ast.ClassDef))]
    return Module(
        path,
        _get_doc(tree),
        definitions,
        tuple(_find_imports(tree.body)),
        frozenset(name for node in loose for name in _find_reads(node)),
    )


def _find_definitions(
    body: list[ast.stmt], path: str, lines: list[str], prefix: str
) -> Iterator[Definition]:
    for node in body:
        inner: list[ast.stmt] = []
        if isinstance(node, ast.ClassDef):
            inner = [item for item in node.body if isinstance(item, (Function, ast.ClassDef))]
            own = [item for item in ast.iter_child_nodes(node) if item not in inner]
            names, head = [node.name], _write_class(node)
        elif isinstance(node, Function):
            if not _OTHER_FORMS.isdisjoint(map(get_last_name, node.decorator_list)):
                continue
            names, head, own = [node.name], _write_function(node), [node]
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _find_definitions(_list_branches(node), path, lines, prefix)
            continue
        else:
            names, head, own = _list_constants(node), _shorten(lines[node.lineno - 1]), [node]
        first, last = get_line_span(node)
        span = range(first, last + 1)
        for name in names:
            yield Definition(
                path,
                prefix + name,
                head,
                _get_doc(node),
                span,
                frozenset(item for part in own for item in _find_reads(part)),
                frozenset(_list_words(lines, own)),
            )
        yield from _find_definitions(inner, path, lines, f"{prefix}{names[0]}." if inner else "")


def _list_branches(node: ast.If | ast.Try) -> list[ast.stmt]:
    handlers = [item for found in getattr(node, "handlers", []) for item in found.body]
    return [*node.body, *handlers, *node.orelse]


def _get_doc(node: ast.AST) -> str:
    if not isinstance(node, (Function, ast.ClassDef, ast.Module)):
        return ""
    first = (ast.get_docstring(node) or "").strip().partition("\n")[0]
    return first if len(first) <= _MAX_DOC_CHARS else f"{first[:_MAX_DOC_CHARS]}…"


def _write_function(node: Function) -> str:
    names = [ast.unparse(item) for item in node.decorator_list]
    marks = "".join(f"@{item} " for item in names if item.split(".")[-1] in _SHOWN_DECORATORS)
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{marks}{kind} {node.name}({ast.unparse(node.args)}){returns}"


def _write_class(node: ast.ClassDef) -> str:
    """Return the head of a class with the names of its annotated fields."""
    bases = ", ".join(
        ast.unparse(item) for item in [*node.bases, *(k.value for k in node.keywords)]
    )
    fields = [ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign)]
    shown = f": {', '.join(fields)}" if fields else ""
    return f"class {node.name}{f'({bases})' if bases else ''}{shown}"


def _list_constants(node: ast.stmt) -> list[str]:
    targets = [] if isinstance(node, ast.AugAssign) else get_assigned_targets(node)
    names = (item.id for item in targets if isinstance(item, ast.Name))
    return [name for name in names if name[:2] != "__"]


def _shorten(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"


def _find_reads(node: ast.AST) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Name):
            yield item.id
        elif isinstance(item, ast.Attribute):
            if not _is_of_builtins(item.attr):
                yield f".{item.attr}"
            if isinstance(item.value, ast.Name):
                yield f"{item.value.id}.{item.attr}"


@lru_cache(maxsize=20_000)
def _is_of_builtins(attribute: str) -> bool:
    """Return whether values of built-in types have an attribute, which then is no reference."""
    return any(hasattr(kind, attribute) for kind in (dict, list, str, bytes, set, int, io.StringIO))


def _find_imports(body: list[ast.stmt]) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            for item in node.names:
                yield Import(item.name, 0, "", item.asname or item.name)
        elif isinstance(node, ast.ImportFrom):
            for item in node.names:
                yield Import(node.module or "", node.level, item.name, item.asname or item.name)
        for name in ("body", "orelse", "handlers", "finalbody"):
            yield from _find_imports(getattr(node, name, ()))  # type: ignore[arg-type]


def _list_words(lines: list[str], nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        for name in set(_IDENTIFIER.findall("\n".join(lines[first - 1 : last]) if first else "")):
            yield from split_words(name)


@lru_cache(maxsize=20_000)
def split_words(name: str) -> tuple[str, ...]:
    """Return the stems of the words of an identifier: `cachedItems` gives `cach` and `item`."""
    return tuple(_stem(item.lower()) for item in _SUBWORD.findall(name))


def _stem(word: str) -> str:
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) > 2 and not word.endswith("ss"):
            word = word.removesuffix(suffix)
            break
    return word.removesuffix("e") if len(word) > 3 else word
