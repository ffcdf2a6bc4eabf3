"""Small values of the type that an annotation names, and calls of functions with such arguments."""

import ast
import random
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from greenloop.grading.inputs.literals import LiteralMutator, Vocabulary
from greenloop.syntax.nodes import Function, get_last_name
from greenloop.syntax.parse import parse_or_empty

_SCALARS: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, -1, 2, 3, 5, 7, 10, 12, 50, 100, -7),
    "float": (0.0, 1.0, -1.0, 0.5, 2.5, 3.14, 10.0, -2.75, 100.0),
    "complex": (0j, 1j, 2 + 0j),
    "str": ("", "a", "b", "abc", "Ab", "a b", "aa", "hello world", "A1", "x,y", "12", "racecar"),
    "bytes": (b"", b"a", b"ab", b"a b", b"\x00"),
    "bool": (False, True),
    "none": (None,),
}
_EXAMPLES: dict[Callable[..., Any], str] = {
    date: "date(2024, 2, 28)",
    datetime: "datetime(2024, 2, 28, 12, 30)",
    time: "time(12, 30)",
    timedelta: "timedelta(1, 30)",
    Decimal: "Decimal('1.5')",
    Fraction: "Fraction(1, 3)",
}
_TYPES: dict[str, Callable[..., Any]] = {kind.__name__.lower(): kind for kind in _EXAMPLES}
_SEQUENCES = frozenset("list sequence iterable collection mutablesequence".split())
_SETS = frozenset("set frozenset abstractset mutableset".split())
_MAPPINGS = frozenset("dict mapping mutablemapping counter defaultdict ordereddict".split())
_ITERATORS = frozenset({"iterator", "generator"})
_FUNCTIONS = ("str", "bool", "abs", "len", "repr")
_MAX_DEPTH = 5
_Place = tuple[int | None, ast.arg, ast.expr | None]  # position, parameter, default
FindOthers = Callable[[str, int | None, str], list[ast.expr]]


class ValueGenerator:
    """Generator of random values; the same state of `rng` gives the same values.

    `interface` is the source of the module's classes, whose objects and members are values too.
    `find_others` returns known arguments for a parameter, by function, position and name.
    """

    def __init__(
        self,
        rng: random.Random,
        vocabulary: Vocabulary,
        interface: str = "",
        find_others: FindOthers = lambda *place: [],
    ) -> None:
        self._rng, self._vocabulary, self._find_others = rng, vocabulary, find_others
        self._mutator = LiteralMutator(rng, vocabulary)
        nodes = parse_or_empty(interface).body
        self._classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}

    def make(self, annotation: ast.expr | None, depth: int = 0) -> ast.expr | None:
        """Return a value of the type; None if the type is not known."""
        if depth > _MAX_DEPTH:
            return None
        match annotation:
            case ast.Constant(value=str() as text):
                quoted = parse_or_empty(text).body
                return self.make(getattr(quoted[0], "value", None) if quoted else None, depth + 1)
            case ast.Constant(value=None):
                return ast.Constant(None)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.make(self._rng.choice((left, right)), depth + 1)
            case ast.Subscript(value=value, slice=inner):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._make_named(get_last_name(value), parts, depth)
            case ast.Name() | ast.Attribute():
                return self._make_named(get_last_name(annotation), [], depth)
        return None

    def _make_named(self, name: str, parts: list[ast.expr], depth: int) -> ast.expr | None:
        own, name = self._classes.get(name), name.lower()
        if own is not None:
            return self._make_object(own, depth)
        if name in _SCALARS:
            return self._make_scalar(name)
        if name in _TYPES:
            return self._make_of_type(_TYPES[name])
        if name == "callable":
            return ast.Name(self._rng.choice(_FUNCTIONS), ast.Load())
        if name in ("any", "object"):
            return self.make(ast.Name(self._rng.choice(("int", "str", "list"))), depth + 1)
        if name == "literal" and parts:
            return self._rng.choice(parts)
        if name in ("optional", "union") and parts:
            others = [ast.Constant(None)] if name == "optional" else []
            return self.make(self._rng.choice([*parts, *others]), depth + 1)
        if name in ("annotated", "final") and parts:
            return self.make(parts[0], depth + 1)
        return self._make_container(name, parts, depth)

    def _make_scalar(self, name: str) -> ast.expr:
        """Return one of a few values or a value of the text, sometimes changed."""
        rng = self._rng
        known: list[Any] = []
        if name in ("int", "float"):
            known = [item for item in self._vocabulary.numbers if type(item).__name__ == name]
        elif name == "str":
            known = list(self._vocabulary.words)
        of_text = bool(known) and rng.random() < 0.4
        chosen = ast.Constant(rng.choice(known if of_text else _SCALARS[name]))
        return self._mutator.change(chosen) if rng.random() < 0.4 else chosen

    def _make_of_type(self, kind: Callable[..., Any]) -> ast.expr:
        """Return a call of a type with other literals than its example, if they are valid."""
        example = ast.parse(_EXAMPLES[kind], mode="eval").body
        changed = self._mutator.mutate(example)
        assert isinstance(changed, ast.Call)
        try:
            kind(*map(ast.literal_eval, changed.args))
        except (ValueError, TypeError, ArithmeticError):  # such as 30 February
            return example
        return changed

    def _make_container(self, name: str, parts: list[ast.expr], depth: int) -> ast.expr | None:
        integer, text = ast.Name("int"), ast.Name("str")
        if name in _MAPPINGS:
            key, value = (parts or [text])[0], parts[-1] if len(parts) > 1 else integer
            keys = self._make_all([key] * self._choose_length(), depth)
            values = self._make_all([value] * len(keys or ()), depth)
            return None if keys is None or values is None else ast.Dict([*keys], values)
        is_fixed = name == "tuple" and parts and getattr(parts[-1], "value", None) is not ...
        if name not in _SEQUENCES | _SETS | _ITERATORS | {"tuple"}:
            return None
        kinds = parts if is_fixed else [(parts or [integer])[0]] * self._choose_length()
        items = self._make_all(kinds, depth)
        return None if items is None else _build(name, items)

    def _make_all(self, kinds: Iterable[ast.expr], depth: int) -> list[ast.expr] | None:
        made = [self.make(kind, depth + 1) for kind in kinds]
        known = [item for item in made if item is not None]
        return known if len(known) == len(made) else None

    def _choose_length(self) -> int:
        known = [item for item in self._vocabulary.integers if item in range(1, 30)]
        if known and self._rng.random() < 0.2:
            return self._rng.choice(known) + self._rng.choice((-1, 0, 1))
        return self._rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7))

    # -- own classes and functions

    def _make_object(self, node: ast.ClassDef, depth: int) -> ast.expr | None:
        """Return a member of an enumeration, or a call of a class by its fields or `__init__`."""
        name = ast.Name(node.name, ast.Load())
        assigned = [item.targets[0] for item in node.body if isinstance(item, ast.Assign)]
        members = [item.id for item in assigned if isinstance(item, ast.Name)]
        if members and any("Enum" in get_last_name(base) for base in node.bases):
            return ast.Attribute(name, self._rng.choice(members), ast.Load())
        methods = {item.name: item for item in node.body if isinstance(item, Function)}
        if "__init__" in methods:
            return self.make_call(methods["__init__"], node.name, depth + 1)
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        needed = [item.annotation for item in fields if item.value is None]
        given = self._make_all(needed, depth + 1)
        return None if given is None else ast.Call(name, given, [])

    def make_call(self, node: Function, name: str = "", depth: int = 0) -> ast.Call | None:
        """Return a call of a function; None if the type of an argument is not known.

        With the `name` of a class, the call is one of the class, and `node` is its `__init__`.
        """
        function, rng, places = name or node.name, self._rng, list[_Place]()
        taken, skipped = [*node.args.posonlyargs, *node.args.args], bool(name)
        defaults = [None] * (len(taken) - len(node.args.defaults)) + [*node.args.defaults]
        is_short = rng.random() < 0.3
        for at, (item, default) in enumerate(zip(taken, defaults, strict=True)):
            if at >= skipped and not (is_short and default):
                places.append((at - skipped, item, default))
        for item, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if default is None or rng.random() < 0.5:
                places.append((None, item, default))
        called = {get_last_name(item) for item in ast.walk(node) if isinstance(item, ast.Call)}
        call = ast.Call(ast.Name(function, ast.Load()), [], [])
        for place, item, default in places:
            is_called = item.annotation is None and item.arg in called
            annotation = ast.Name("Callable", ast.Load()) if is_called else item.annotation
            value = self.make(annotation, depth) or self._vary(function, place, item.arg, default)
            if value is None:
                return None
            if place is None:
                call.keywords.append(ast.keyword(item.arg, value))
            else:
                call.args.append(value)
        return call

    def _vary(
        self, function: str, at: int | None, name: str, default: ast.expr | None
    ) -> ast.expr | None:
        """Return a value like that of another call, or like the default."""
        values = self._find_others(function, at, name)
        if default is not None:
            if isinstance(default, ast.Constant) and default.value is None and not values:
                return self._make_scalar("int")  # as for a size, a depth or a limit
            values = [*values, default]
        values = values or self._find_others("", 0, "")  # a module often uses the same types
        return self._mutator.change(self._rng.choice(values)) if values else None


def _build(name: str, items: list[ast.expr]) -> ast.expr:
    listed = ast.List(items, ast.Load())
    if name in _ITERATORS:
        return ast.Call(ast.Name("iter", ast.Load()), [listed], [])
    if name == "frozenset" or (name in _SETS and not items):
        kind = name if name == "frozenset" else "set"
        return ast.Call(ast.Name(kind, ast.Load()), [listed] if items else [], [])
    if name in _SETS:
        return ast.Set(items)
    return ast.Tuple(items, ast.Load()) if name == "tuple" else listed
