"""Completeness of generated source: elisions, defined names, unwritten functions."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.syntax.names import find_types
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import cache_by_source, parse_or_empty

_CODE = r"(code|implementation|module|functions?|class(es)?|methods?|tests?|imports?|logic)"
_UNCHANGED = r"(unchanged|omitted|identical|not\s+shown|(the\s+)?same|as\s+(before|above|is)|here)"
_REST = rf"""(the\s+)?(rest|remainder)\s+of\s+((the|your|this|my)\s+)?((original|existing)\s+)?
    ({_CODE}|file)"""
_LEAD, _TAIL = r"^\#[\s.…\-(<\[]*", r"[\s.…\-)\]>!]*$"
# Placeholders for code, wherever they are.
_ELISION = re.compile(
    rf"""{_LEAD}(
        {_REST}\s+((is|are|remains?|stays?|goes)\s+)?{_UNCHANGED}(\s+(as|in|from)\b.*)?
      | (previous|existing|original|other|remaining)\s+{_CODE}\s+
            ((is|are|remains?|stays?|goe?s?)\s+)?{_UNCHANGED}(\s+(as|in|from)\b.*)?
      | (your|the|actual)?\s*(code|implementation|logic)\s+(goes\s+)?here
      | (your\s+(code|implementation|logic)(\s+goes)?|(code|implementation|logic)\s+goes)\s+here\b.*
      | .*\bomitted\s+for\s+brevity.*
      | (\.{{3,}}|…|[\[<])\s*({_REST}|(previous|existing|original|other|remaining)\s+{_CODE})
    ){_TAIL}""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT_LINE = re.compile(r"^\s*\#", re.MULTILINE)
_DOTS = re.compile(r"\#\s*(\.{3,}|…)\s*")
# Placeholders only where no code follows; before code they are headings.
_POSSIBLE_ELISION = re.compile(
    rf"""{_LEAD}(
        (the\s+)?(rest|(remaining|other)\s+\w+)\s+(is|are|stays?|remains?)\s+
            (unchanged|the\s+same|as\s+before)
      | (the\s+)?rest(\s+(unchanged|as\s+(before|above)))?
      | {_REST}
      | (previous|existing|original|other|remaining)\s+{_CODE}
      | (same|unchanged)(\s+as\s+(above|before|the\s+original))?
      | continues?|and\s+so\s+on|etc
    ){_TAIL}""",
    re.IGNORECASE | re.VERBOSE,
)


def find_elision(source: str, before: str = "") -> str | None:
    """Return the comment that replaces omitted code, or None.

    Only a comment alone on its line can replace code, and none that the source had `before`.
    """
    if _COMMENT_LINE.search(source) is None:
        return None  # tokenizing takes longer than parsing
    lines = source.split("\n")
    own = Counter(comment for _, comment in _iter_lone_comments(before))
    for line, comment in _iter_lone_comments(source):
        own[comment] -= 1
        if own[comment] >= 0:
            continue
        certain = _ELISION.match(comment) or _DOTS.fullmatch(comment)
        if certain or (_POSSIBLE_ELISION.match(comment) and not _is_followed_by_code(lines, line)):
            return f"line {line}: {comment}"
    return None


def _is_followed_by_code(lines: Sequence[str], comment: int) -> bool:
    """Return whether code follows in the block of a comment (on a 1-based line)."""
    own = _indentation_width(lines[comment - 1])
    for line in lines[comment:]:
        if line.strip() and not line.lstrip().startswith("#"):
            return _indentation_width(line) >= own and line.strip() not in ("pass", "...")
    return False


def _indentation_width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _iter_lone_comments(source: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return


@cache_by_source
def top_level_names(source: str, module: str = "") -> tuple[str, ...]:
    """Return the names that a module defines at its top level; () where it does not parse.

    Imported names count, except by relative imports and from `module`: such a file is not `module`.
    """
    own = (
        node
        for node in parse_or_empty(source).body
        if not isinstance(node, ast.ImportFrom) or (node.level == 0 and node.module != module)
    )
    return tuple(dict.fromkeys(name for node in own for name in _iter_defined_names(node)))


def _iter_defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (item.id for item in ast.walk(target) if isinstance(item, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, (ast.If, ast.Try)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _iter_defined_names(child)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((item.asname or item.name).split(".")[0] for item in node.names)


@cache_by_source
def public_names(interface: str) -> tuple[str, ...]:
    """Return the functions, classes and constants that an interface requires.

    Type variables and aliases are left out: they are part of the notation, not of the behaviour.
    """
    tree = parse_or_empty(interface)
    types = find_types(tree)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    nodes = (node for node in tree.body if isinstance(node, kinds))
    found = (
        name
        for node in nodes
        if not _is_type_variable(node)
        for name in _iter_defined_names(node)
        if isinstance(node, Definition) or name not in types
    )
    return tuple(dict.fromkeys(name for name in found if not name.startswith("__")))


def _is_type_variable(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return False
    return bool(re.search(r"\b(TypeVar|ParamSpec|TypeVarTuple)$", ast.unparse(node.value.func)))


def find_unwritten_functions(source: str) -> tuple[str, ...]:
    """Return functions whose whole body is `...` or `raise NotImplementedError`.

    Overloads, protocols, abstract methods and base classes may have such bodies.
    """
    tree = parse_or_empty(source)
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    bases = frozenset(
        ast.unparse(base).partition("[")[0] for node in classes for base in node.bases
    )
    return tuple(_iter_unwritten_functions(tree.body, bases, is_abstract=False))


def _iter_unwritten_functions(
    body: list[ast.stmt], bases: frozenset[str], *, is_abstract: bool
) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = [*node.bases, *(item.value for item in node.keywords)]
            marked = re.search(r"Protocol|ABC", " ".join(ast.unparse(base) for base in own))
            yield from _iter_unwritten_functions(
                node.body, bases, is_abstract=marked is not None or node.name in bases
            )
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = " ".join(ast.unparse(item) for item in node.decorator_list)
            may_be_empty = is_abstract or re.search(r"overload|abstract", marks)
            if not may_be_empty and _has_empty_body(node):
                yield node.name


def _has_empty_body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if len(body) != 1:
        return False
    only = body[0]
    if isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant):
        return only.value.value is Ellipsis
    return isinstance(only, ast.Raise) and "NotImplementedError" in ast.dump(only)


def is_test_file(source: str) -> bool:
    """Return whether a source is a pytest file."""
    names = top_level_names(source)
    return any(name.startswith(("test_", "Test")) for name in names) and "def test" in source
