"""Reduction of an interface to what callers need and the text states.

Names, parameters, bases and decorators are kept. Docstrings, comments, and the defaults,
annotations and values that the text does not state are an interpretation of the text, which the
writer of a second implementation must not see. Beside a function that the text names, or a program
(`main`), a function that it does not name is no reading of the text but a part of the contract: its
annotations are kept, because the text does not lead to them. A type alias stays if an annotation
that is kept uses it.
"""

import ast
import re
from collections.abc import Iterator

from greenloop.syntax.names import find_types
from greenloop.syntax.nodes import Definition, Function, Import, get_assigned_targets

# Words for a type in a text, besides the type's name.
_TYPE_WORDS = {
    "int": "integer|integers",
    "str": "string|strings",
    "bool": "boolean|booleans|true|false",
    "dict": "dictionary|dictionaries|mapping",
}
_NEUTRAL_NAMES = frozenset({"None", "Optional", "Union", "Any", "Self"})


def reduce_interface(interface: str, text: str) -> str:
    """Return a contract's interface without what its writer added to the text.

    A default that the text does not state becomes `...`, so that the parameter stays optional.
    Raises SyntaxError: the interface does not parse.
    """
    tree = ast.parse(interface)
    tree.body = [item for item in tree.body if not isinstance(item, Import)]
    classes = frozenset(item.name for item in ast.walk(tree) if isinstance(item, ast.ClassDef))
    reduced = _Reducer(text, classes).visit(tree)
    return ast.unparse(ast.fix_missing_locations(reduced)) + "\n"


def extract_interface(code: str, text: str) -> str:
    """Return the reduced interface of existing code: its public functions and classes.

    Raises SyntaxError: the code does not parse.
    """
    tree = ast.parse(code)
    tree.body = [item for item in tree.body if _is_public(item)]
    for item in tree.body:
        if isinstance(item, ast.ClassDef):
            kept = [part for part in item.body if _is_public(part, in_class=True)]
            item.body = kept or [_build_dots()]
    return reduce_interface(ast.unparse(tree), text)


def _is_public(node: ast.stmt, *, in_class: bool = False) -> bool:
    if in_class and (targets := get_assigned_targets(node)):
        return all(isinstance(item, ast.Name) and item.id[:1] != "_" for item in targets)
    is_special = in_class and getattr(node, "name", "").startswith("__")
    return isinstance(node, Definition) and (is_special or node.name[:1] != "_")


class _Reducer(ast.NodeTransformer):
    """Transformer that removes bodies, and values and annotations that the text does not state."""

    def __init__(self, text: str, classes: frozenset[str]) -> None:
        self._text, self._classes = text, classes
        self._is_part = False  # inside of a function that the text does not name

    def visit_FunctionDef(self, node: Function) -> ast.AST:
        arguments = node.args
        node.body = [_build_dots()]
        if node.name != "main":  # a second implementation need not guess its exit status
            node.returns = self._reduce_annotation(node.returns)
        arguments.defaults = [self._reduce_value(item) for item in arguments.defaults]
        arguments.kw_defaults = [
            item and self._reduce_value(item) for item in arguments.kw_defaults
        ]
        for item in ast.walk(arguments):
            if isinstance(item, ast.arg):
                item.annotation = self._reduce_annotation(item.annotation)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(item) for item in node.body if _is_kept(item)] or [_build_dots()]
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        named = {
            item.name
            for item in node.body
            if isinstance(item, Definition)
            and (item.name == "main" or _states(self._text, item.name))
        }
        types = find_types(node)
        node.body = [item for item in node.body if _is_kept(item)]
        for item in node.body:
            self._is_part = bool(named) and isinstance(item, Function) and item.name not in named
            if _get_assigned(item) not in types:
                self.visit(item)
        unused = types - find_types(node)
        node.body = [item for item in node.body if _get_assigned(item) not in unused]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self._reduce_value(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = self._reduce_annotation(node.annotation) or ast.Constant(...)
        node.value = self._reduce_value(node.value) if node.value else None
        return node

    def _reduce_value(self, value: ast.expr) -> ast.expr:
        known = all(_states(self._text, item) for item in _find_words(value))
        return value if known else ast.Constant(...)

    def _reduce_annotation(self, annotation: ast.expr | None) -> ast.expr | None:
        if annotation is None or self._is_part:
            return annotation
        return annotation if all(map(self._names, _find_words(annotation))) else None

    def _names(self, word: str) -> bool:
        known = word in _NEUTRAL_NAMES or word in self._classes
        return known or _states(self._text, word, f"|{word}s|{_TYPE_WORDS.get(word, word)}")


def _find_words(node: ast.expr) -> Iterator[str]:
    """Yield the names and constants of an expression; a quoted annotation is one word."""
    for item in ast.walk(node):
        if isinstance(item, ast.Name):
            yield item.id
        elif isinstance(item, ast.Attribute):
            yield item.attr
        elif isinstance(item, ast.Constant) and item.value not in (None, ...):
            yield str(item.value)


def _states(text: str, word: str, others: str = "") -> bool:
    pattern = rf"(?<!\w)({re.escape(word)}{others})(?!\w)"
    return bool(word.strip()) and re.search(pattern, text, re.IGNORECASE) is not None


def _is_kept(node: ast.stmt) -> bool:
    """Whether a statement declares something; a docstring does not."""
    return not isinstance(node, (ast.Expr, ast.Pass, Import))


def _get_assigned(node: ast.stmt) -> str:
    """Return the name that a statement assigns, '' for others."""
    targets = get_assigned_targets(node)
    return targets[0].id if targets and isinstance(targets[0], ast.Name) else ""


def _build_dots() -> ast.stmt:
    return ast.Expr(ast.Constant(...))
