"""Operators between an object of the code and a value of the tests: who says what comes out?

The code does, and so could say that everything is equal. It is asked only where the tests name the
object's class (written like a class) and the value is no other; and that a test's outcome rests on
it is remembered. Else the two are unequal, and cannot be calculated with or compared.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from .codec import Codec
from .errors import CannotSplit
from .special import COMPARING


def named_in(texts: Iterable[str]) -> frozenset[str]:
    """Every name that test files mention."""
    found: set[str] = set()
    for text in texts:
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        found.update(node.id for node in nodes if isinstance(node, ast.Name))
        found.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found.update(part for item in node.names for part in (item.name, item.asname or ""))
    return frozenset(found)


def is_class_name(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


class Judging:
    """`rests` holds the ids of tests that the code's own operators had a say in."""

    def __init__(self, codec: Codec, ask: Callable[..., Any], names: frozenset[str]) -> None:
        self._codec, self._ask, self._names = codec, ask, names
        self.rests: dict[str, None] = {}
        self.running = ""

    def operator(self, it: Any, name: str, others: tuple[Any, ...]) -> Any:
        """What an operator gives; NotImplemented where the other operand is to be asked."""
        remote = all(self._codec.number_of(other) is not None for other in others)
        if not remote:
            kind = type(it).__name__
            if not (is_class_name(kind) and kind in self._names):
                return NotImplemented
            if not self._is_plain(others):
                return NotImplemented
        answer = self._ask("special", it, name, others)
        if not remote and self._has_a_say(name, answer):
            self.rests[self.running] = None
        return answer

    def _is_plain(self, others: tuple[Any, ...]) -> bool:
        """Whether they can be told to the code at all: `pytest.approx` and `ANY` decide here."""
        if any(type(other).__module__.startswith(("_pytest", "unittest")) for other in others):
            return False
        try:
            for other in others:
                self._codec.encode(other)
        except CannotSplit:
            return False
        return True

    def _has_a_say(self, name: str, answer: Any) -> bool:
        if name in COMPARING:
            return answer is not NotImplemented and bool(answer) == (name != "__ne__")
        return isinstance(answer, (int, float, complex))
