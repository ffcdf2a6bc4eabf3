"""Names and return types that tests expect of a module, inferred from their use.

The text of an MBPP task often leaves open whether the result is a number or a list, `True` or
"Yes". The specification names the type. Where results are words that the reference solution also
contains and that cannot be guessed, it names the words too, but not which call returns which."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import parse_or_empty, read_literal

_MAX_TYPES = 3  # of a union; a longer one is left out
_MAX_ANNOTATION_LENGTH = 60  # of a longer one only the outermost types are given
_MAX_WORDS_LENGTH = 200


@dataclass(frozen=True)
class InferredReturn:
    """`annotation` is '' where no type is given; `words` are sorted."""

    annotation: str = ""
    words: tuple[str, ...] = ()


def infer_returns(tests: Iterable[ast.Module], solution: str) -> dict[str, InferredReturn]:
    """Return by function what its `assert f(…) == literal` imply."""
    expected: dict[str, list[Any]] = {}
    for name, value in (pair for tree in tests for pair in _find_asserted_values(tree)):
        expected.setdefault(name, []).append(value)
    constants = _string_constants(solution)
    return {
        name: InferredReturn(_infer_annotation(values), _literal_words(values, constants))
        for name, values in expected.items()
    }


def _find_asserted_values(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            call, wanted = node.test.left, node.test.comparators[0]
            equal = len(node.test.ops) == 1 and isinstance(node.test.ops[0], (ast.Eq, ast.Is))
            if equal and isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                yield from ((call.func.id, value) for value in read_literal(wanted))


def _infer_annotation(values: list[Any]) -> str:
    kind = _infer_type(values)
    outermost = sorted({_type_name(value).partition("[")[0] for value in values})
    return kind if len(kind) <= _MAX_ANNOTATION_LENGTH else " | ".join(outermost)


def _infer_type(values: Iterable[Any]) -> str:
    kinds = set(map(_type_name, values))
    for name in ("list", "set", "dict", "tuple"):  # an empty container does not tell its item type
        if any(item.startswith(f"{name}[") for item in kinds):
            kinds.discard(name)
    ordered = sorted(kinds, key=lambda kind: (kind == "None", kind))
    return " | ".join(ordered) if len(ordered) <= _MAX_TYPES else ""


def _type_name(value: Any) -> str:
    name = "None" if value is None else type(value).__name__
    if not isinstance(value, (list, set, tuple, dict)) or not value:
        return name
    if isinstance(value, dict):
        inner = ", ".join((_infer_type(value.keys()), _infer_type(value.values()) or "object"))
        return f"dict[{inner}]"
    kinds = [_type_name(item) for item in value]
    if isinstance(value, tuple) and len(set(kinds)) > 1:
        return f"tuple[{', '.join(kinds)}]"
    more = ", ..." if isinstance(value, tuple) else ""
    return f"{name}[{_infer_type(value) or 'object'}{more}]"


def _literal_words(values: list[Any], known: set[str]) -> tuple[str, ...]:
    texts = (item for item in values if isinstance(item, str) and item in known)
    words = {item for item in texts if any(letter.isalpha() for letter in item)}
    differ = len({repr(item) for item in values}) > 1  # a single value would be the answer
    return tuple(sorted(words)) if differ and sum(map(len, words)) <= _MAX_WORDS_LENGTH else ()


def _string_constants(code: str) -> set[str]:
    nodes = ast.walk(parse_or_empty(code))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


@dataclass(frozen=True)
class UsedName:
    """A name of the module."""

    name: str
    parameters: int | None = None  # None where the tests never call it
    example: str = ""  # the first call, without the expected result


def find_used_names(
    trees: Iterable[ast.Module], known_names: Collection[str] = ()
) -> tuple[UsedName, ...]:
    """Return the used names, called ones first, in the order of their use.

    `known_names` are known names of the module, which may shadow a builtin.
    """
    trees = tuple(trees)
    nodes = [node for tree in trees for node in ast.walk(tree)]
    bound = (set(dir(builtins)) - set(known_names)) | bound_names(nodes)
    calls: dict[str, UsedName] = {}
    mentioned: dict[str, UsedName] = {}
    ignored = bound | set(_stdlib_references(trees))
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in bound:
                count = len(node.args) + len(node.keywords)
                used = UsedName(node.func.id, count, ast.unparse(node))
                calls.setdefault(node.func.id, used)
        elif isinstance(node, ast.Name) and node.id not in ignored:
            mentioned.setdefault(node.id, UsedName(node.id))
    return tuple({**mentioned, **calls}[name] for name in dict.fromkeys((*calls, *mentioned)))


def find_used_modules(trees: Iterable[ast.Module]) -> tuple[str, ...]:
    """Return the modules of the standard library that are used but not imported."""
    trees = tuple(trees)
    bound = bound_names(node for tree in trees for node in ast.walk(tree))
    return tuple(name for name in dict.fromkeys(_stdlib_references(trees)) if name not in bound)


def _stdlib_references(trees: Iterable[ast.Module]) -> Iterator[str]:
    for node in (node for tree in trees for node in ast.walk(tree)):
        base = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(base, ast.Name) and base.id in sys.stdlib_module_names:
            yield base.id
