"""Operators between an object of the code and a value of the tests: who says what comes out?

The code does, and so could say that everything is equal. It is asked only where the tests name the
object's class (written like a class) and the value is no other; and that a test's outcome rests on
it is remembered. Else the two are unequal, and cannot be calculated with or compared.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .codec import Codec
from .errors import CannotSplit
from .special import COMPARING


def named_in(texts: Iterable[str], module: str) -> frozenset[str]:
    """Every name of the module under test that test files mention."""
    found: set[str] = set()
    for text in texts:
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        modules = {module}
        for node in nodes:
            if isinstance(node, ast.Import):
                modules.update(item.asname or "" for item in node.names if item.name == module)
            elif isinstance(node, ast.ImportFrom) and node.module == module:
                found.update(item.name for item in node.names)
        found.update(_attributes(nodes, modules))
        if "*" in found:
            found.update(node.id for node in nodes if isinstance(node, ast.Name))
    return frozenset(found)


def _attributes(nodes: Iterable[ast.AST], modules: set[str]) -> Iterator[str]:
    for node in nodes:
        read = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if read and node.value.id in modules:  # type: ignore[attr-defined]
            yield node.attr  # type: ignore[attr-defined]


def is_class_name(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


class Judging:
    """`rests` holds the ids of tests that the code's own operators had a say in."""

    def __init__(
        self,
        codec: Codec,
        ask: Callable[..., Any],
        names: frozenset[str],
        refused: Callable[[str], None],
    ) -> None:
        self._codec, self._ask, self._names, self._refused = codec, ask, names, refused
        self.rests: dict[str, None] = {}
        self.running = ""

    def operator(self, it: Any, name: str, others: tuple[Any, ...]) -> Any:
        """What an operator gives; NotImplemented where the other operand is to be asked."""
        remote = all(self._codec.number_of(other) is not None for other in others)
        if not remote:
            kind = type(it).__name__
            if not (is_class_name(kind) and kind in self._names and self._is_plain(others)):
                return self._without(it, name, others)
        answer = self._ask("special", it, name, others)
        if not remote and self._has_a_say(name, answer):
            self.rests[self.running] = None
        return answer

    def _without(self, it: Any, name: str, others: tuple[Any, ...]) -> Any:
        """What comes out where the code is not asked: membership is seen by looking at all items.

        A test may await just that, so the run does not count; but everybody compares with None,
        and pytest's and mock's own values say themselves what they are equal to.
        """
        if others[0] is not None and not any(map(_is_of_a_tool, others)):
            self._refused(f"{name} of a {type(it).__name__}, which the tests do not import")
        if name == "__contains__":
            return any(item is others[0] or item == others[0] for item in it)
        return NotImplemented

    def _is_plain(self, others: tuple[Any, ...]) -> bool:
        """Whether they can be told to the code at all: `pytest.approx` and `ANY` decide here."""
        if any(map(_is_of_a_tool, others)):
            return False
        try:
            for other in others:
                self._codec.encode(other)
        except CannotSplit:
            return False
        return True

    def _has_a_say(self, name: str, answer: Any) -> bool:
        if name in COMPARING or name == "__contains__":
            return answer is not NotImplemented and bool(answer) == (name != "__ne__")
        return isinstance(answer, (int, float, complex))


def _is_of_a_tool(other: Any) -> bool:
    return type(other).__module__.startswith(("_pytest", "unittest"))
