"""Small values of the type that an annotation names."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

from greenloop.testsuite.variants.literals import Vocabulary

_INTEGERS = (0, 1, -1, 2, 3, 5, 7, 10, 12, 50, 100, -7)
_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.5, 3.14, 10.0, -2.75, 100.0)
_TEXTS = ("", "a", "b", "abc", "Ab", "a b", "aa", "hello world", "A1", "x,y", "12", " ", "racecar")
_SEQUENCES = {"list", "sequence", "iterable", "collection", "mutablesequence", "iterator"}
_SETS = {"set", "frozenset", "abstractset", "mutableset"}
_MAPPINGS = {"dict", "mapping", "mutablemapping", "counter", "defaultdict", "ordereddict"}
_FUNCTIONS = ("str", "bool", "abs", "len", "repr")
_ANYTHING = ("int", "str", "list")
_MAX_DEPTH = 5


class ValueGenerator:
    """Makes literals for annotations by chance; the same `rng` gives the same ones."""

    def __init__(self, rng: random.Random, vocabulary: Vocabulary) -> None:
        self._rng, self._vocabulary = rng, vocabulary
        self._scalars: dict[str, Callable[[], Any]] = {
            "int": self._make_integer,
            "float": self._make_float,
            "complex": lambda: complex(rng.choice(_INTEGERS)),
            "str": self._make_text,
            "bytes": lambda: self._make_text().encode(),
            "bool": lambda: rng.random() < 0.5,
            "none": lambda: None,
        }

    def generate(self, annotation: ast.expr | None, depth: int = 0) -> ast.expr | None:
        """Return a literal of the type; None where the type is not known."""
        if isinstance(annotation, ast.Constant):
            return self._generate_quoted(annotation, depth)
        if annotation is None or depth > _MAX_DEPTH:
            return None
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            side = self._rng.choice((annotation.left, annotation.right))
            return self.generate(side, depth + 1)
        if isinstance(annotation, ast.Subscript):
            inner = annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return self._generate_container(_read_name(annotation.value), parts, depth)
        return self._generate_named(_read_name(annotation), depth)

    def _generate_quoted(self, annotation: ast.Constant, depth: int) -> ast.expr | None:
        if annotation.value is None:
            return ast.Constant(None)
        try:
            return self.generate(ast.parse(str(annotation.value), mode="eval").body, depth + 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _generate_named(self, name: str, depth: int) -> ast.expr | None:
        if name in self._scalars:
            return ast.Constant(self._scalars[name]())
        if name == "callable":
            return ast.Name(self._rng.choice(_FUNCTIONS), ast.Load())
        if name in ("any", "object"):
            return self._generate_named(self._rng.choice(_ANYTHING), depth)
        if name == "tuple":
            return self._generate_container(name, [ast.Name("int"), ast.Constant(...)], depth)
        parts: list[ast.expr] = [ast.Name("str"), ast.Name("int")]
        return self._generate_container(name, parts if name in _MAPPINGS else parts[1:], depth)

    def _generate_container(self, name: str, parts: list[ast.expr], depth: int) -> ast.expr | None:
        if name == "literal":
            return self._rng.choice(parts)
        if name == "callable":
            return self._generate_named(name, depth)
        if name in ("optional", "union"):
            options = [*parts, ast.Constant(None)] if name == "optional" else parts
            return self.generate(self._rng.choice(options), depth + 1)
        if name in ("annotated", "final"):
            return self.generate(parts[0], depth + 1)
        if name in _MAPPINGS:
            return self._generate_dict(parts, depth)
        if name == "tuple" and getattr(parts[-1], "value", None) is not ...:
            items = [self.generate(part, depth + 1) for part in parts]
        elif name in _SEQUENCES | _SETS | {"tuple"}:
            items = [self.generate(parts[0], depth + 1) for _ in range(self._choose_length())]
        else:
            return None
        known = [item for item in items if item is not None]
        return None if len(known) < len(items) else _build(name, known)

    def _generate_dict(self, parts: list[ast.expr], depth: int) -> ast.expr | None:
        if len(parts) == 1:  # a Counter
            parts = [parts[0], ast.Name("int")]
        pairs = [
            (self.generate(parts[0], depth + 1), self.generate(parts[-1], depth + 1))
            for _ in range(self._choose_length())
        ]
        keys, values = [key for key, _ in pairs if key], [value for _, value in pairs if value]
        return ast.Dict(list(keys), values) if len(keys) == len(values) == len(pairs) else None

    def _choose_length(self) -> int:
        known = [item for item in self._vocabulary.numbers if item in range(1, 30)]
        if known and self._rng.random() < 0.2:
            return max(0, int(self._rng.choice(known)) + self._rng.choice((-1, 0, 1)))
        return self._rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7))

    def _make_integer(self) -> int:
        known = [item for item in self._vocabulary.numbers if isinstance(item, int)]
        if known and self._rng.random() < 0.4:
            return self._rng.choice(known) + self._rng.choice((-1, 0, 0, 1))
        return self._rng.choice((self._rng.choice(_INTEGERS), self._rng.randint(0, 30)))

    def _make_float(self) -> float:
        known = self._vocabulary.numbers
        if known and self._rng.random() < 0.3:
            return float(self._rng.choice(known)) + self._rng.choice((-1, 0, 0.5))
        return self._rng.choice(_FLOATS)

    def _make_text(self) -> str:
        words = self._vocabulary.words
        chosen = [self._rng.choice(words or _TEXTS), self._rng.choice(_TEXTS)]
        if self._rng.random() < 0.3:
            return "".join(self._rng.choices("ab c,01Z", k=self._rng.randint(1, 8)))
        return self._rng.choice((*chosen, chosen[0] + chosen[1], " ".join(chosen)))


def _read_name(node: ast.expr) -> str:
    """Return the last part of a dotted name, in lower case; '' for other nodes."""
    if isinstance(node, ast.Attribute):
        return node.attr.lower()
    return node.id.lower() if isinstance(node, ast.Name) else ""


def _build(name: str, items: list[ast.expr]) -> ast.expr:
    if name == "tuple":
        return ast.Tuple(items, ast.Load())
    if name == "frozenset" or (name in _SETS and not items):
        arguments: list[ast.expr] = [ast.List(items, ast.Load())] if items else []
        return ast.Call(ast.Name(name if name == "frozenset" else "set", ast.Load()), arguments, [])
    return ast.Set(items) if name in _SETS else ast.List(items, ast.Load())
