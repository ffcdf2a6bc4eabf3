"""What the names of a test depend on."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import IntEnum

from greenloop.testsuite.scenarios.module_symbols import ClassSymbol
from greenloop.testsuite.scenarios.names import (
    Function,
    children,
    free_names,
    get_dotted_name,
    inner_bindings,
    walk,
)
from greenloop.testsuite.scenarios.purity import (
    CLASS_NAME,
    CLOCK_METHODS,
    IMMUTABLE_CALLS,
    PROCESS_BUILTINS,
    PURE_MODULES,
    SHARED_NAMES,
)

_CONTAINERS = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred)
_OF_RECORDS = frozenset({"asdict", "astuple", "vars"})
_NO_CLASS = ClassSymbol("")


class Level(IntEnum):
    """Where a value can be had: in both processes, as a stand-in, or only in that of the code."""

    INDEPENDENT = 0
    SYMBOLIC = 1
    DEPENDENT = 2


@dataclass
class Scope:
    """The names that are known at a place of a test."""

    module: str  # the name of the module under test
    symbols: dict[str, ClassSymbol]  # what its source says about its classes
    # Classes of the module by the dotted names by which the test refers to them.
    classes: dict[str, ClassSymbol] = field(default_factory=dict)
    # Names of the module by the names that the test uses; '' for the module itself.
    imported: dict[str, str] = field(default_factory=dict)
    # The level of each name that is not independent.
    levels: dict[str, Level] = field(default_factory=dict)
    # For names of mutable objects, the names through which these can be reached.
    reachable: dict[str, set[str]] = field(default_factory=dict)
    # Functions of the test file that return such instances.
    makers: set[str] = field(default_factory=set)
    # Functions of the test file that decide something by their arguments.
    compares: set[str] = field(default_factory=set)
    objects: set[str] = field(default_factory=set)  # names of instances of the module's classes
    # Names of modules, or of their members, that depend on the process.
    process_modules: set[str] = field(default_factory=set)
    loggers: set[str] = field(default_factory=set)  # names of loggers of the standard library
    # Names that only the process of the tests has.
    judge_only: set[str] = field(default_factory=set)
    # Functions that cannot run beside the code, and why.
    refused: dict[str, str] = field(default_factory=dict)
    # Tables: expressions to which names are bound once, and definitions of the file.
    literals: dict[str, ast.AST] = field(default_factory=dict)

    def copy(self) -> Scope:
        """Return a scope whose changes do not change this one."""
        return Scope(**{item.name: copy.copy(getattr(self, item.name)) for item in fields(self)})

    def level(
        self, node: ast.AST, bound: frozenset[str] = frozenset(), *, records: bool = False
    ) -> Level:
        """Return the level of an expression or of a definition.

        With `records`, calls of record classes are symbolic.
        """
        if isinstance(node, ast.Constant):
            return Level.INDEPENDENT
        if isinstance(node, (ast.Name, ast.Attribute)) and (name := get_dotted_name(node)):
            is_shared = name in SHARED_NAMES and not isinstance(node, ast.Name)
            if is_shared or name.partition(".")[0] in bound:
                return Level.INDEPENDENT
            if self.symbol(name):
                return Level.SYMBOLIC
        if isinstance(node, ast.Name):
            default = Level.DEPENDENT if node.id in PROCESS_BUILTINS else Level.INDEPENDENT
            return self.levels.get(node.id, default)
        if inner := inner_bindings(node):
            bound = bound | inner
        found = max(
            (self.level(item, bound, records=records) for item in children(node)),
            default=Level.INDEPENDENT,
        )
        if not isinstance(node, _CONTAINERS) and found is Level.SYMBOLIC:
            is_record = (
                records and self.symbol(get_dotted_name(getattr(node, "func", node))) == "record"
            )
            return Level.SYMBOLIC if is_record else Level.DEPENDENT
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_METHODS:
            return Level.DEPENDENT
        return found

    def is_dependent(self, node: ast.AST) -> bool:
        """Return whether only the code's process can evaluate an expression."""
        return self.level(node) is Level.DEPENDENT

    def symbol(self, name: str) -> str:
        """Return the kind of stand-in for a dotted name: a class's kind, "member" or ''."""
        if name in self.classes and name not in self.levels:
            return self.classes[name].kind
        base, _, member = name.rpartition(".")
        if self.classes.get(base, _NO_CLASS).kind in ("enum", "flag"):
            return "member" if member in dict(self.classes[base].fields) else ""
        if name.partition(".")[0] in self.process_modules and CLASS_NAME.fullmatch(member):
            return "class"
        return ""

    def is_object(self, node: ast.AST) -> bool:
        """Return whether an expression is an instance of a class of the module, as far as known."""
        if isinstance(node, ast.Call):
            name = get_dotted_name(node.func)
            return name in self.classes or name in self.makers
        if isinstance(node, (ast.Await, ast.Starred)):
            return self.is_object(node.value)
        return isinstance(node, ast.Name) and node.id in self.objects

    def gives_object(self, node: ast.expr) -> bool:
        """Return whether an expression is a call, as of `asdict`, with such an instance alone.

        What operators and methods of one return may be another one: those of a dataclass are asked
        then, and functions of the tests that decide nothing.
        """
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return False
        name, given = get_dotted_name(node.func), node.args[0]
        is_own = isinstance(self.literals.get(name), Function) and name not in self.compares
        is_own = is_own or name.rpartition(".")[2] in _OF_RECORDS
        return self.is_object(given) or (is_own and self._may_be_object(given))

    def _may_be_object(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return any(map(self.is_object, children(node)))
        owner = getattr(node.func, "value", None) if isinstance(node, ast.Call) else None
        is_class = owner is not None and self.symbol(get_dotted_name(owner)) != ""
        return is_class or (owner is not None and self.is_object(owner))

    def import_names(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind the names of an import."""
        for item in node.names:
            key = item.asname or item.name.partition(".")[0]
            is_member = isinstance(node, ast.ImportFrom)
            source = node.module or "" if isinstance(node, ast.ImportFrom) else item.name
            path, root = f"{source}.{item.name}", source.partition(".")[0]
            if source == self.module:
                self._import_from_module(key, item.name if is_member else "")
            elif is_member and path == self.module:  # `from package import module`
                self._import_from_module(key, "")
            elif root in ("pytest", "unittest") and "mock" not in path:
                self.judge_only.add(key)
            elif root not in PURE_MODULES and not SHARED_NAMES & {path, path.partition(".")[2]}:
                is_class = is_member and CLASS_NAME.fullmatch(item.name)
                self.levels[key] = Level.SYMBOLIC if is_class else Level.DEPENDENT
                self.process_modules.add(key)

    def _import_from_module(self, name: str, member: str) -> None:
        """Bind a name to a member of the module under test, or to the module itself ('')."""
        known = self.symbols
        self.imported[name] = member
        if member not in known:
            self.levels[name] = Level.DEPENDENT
        prefix = "" if member else f"{name}."
        bound = {name: known[member]} if member in known else {}
        bound |= {f"{prefix}{key}": symbol for key, symbol in known.items() if prefix}
        for key, symbol in bound.items():
            self.classes[key] = symbol

    def bind(self, names: Iterable[str], value: ast.AST, level: Level | None = None) -> None:
        """Bind names to the value of an expression, or to what a definition makes."""
        level = self.level(value) if level is None else level
        reachable = set(free_names(value))
        for name in names:
            self.forget(name)
            if level is not Level.INDEPENDENT:
                self.levels[name] = level
            if not self.is_immutable(value):
                self.reachable[name] = reachable
            if self.is_object(value):
                self.objects.add(name)
            if get_dotted_name(getattr(value, "func", value)).endswith("getLogger"):
                self.loggers.add(name)

    def forget(self, name: str) -> None:
        """Drop what is known of a name."""
        for known in (self.levels, self.reachable, self.literals, self.classes, self.imported):
            known.pop(name, None)
        self.objects.discard(name)
        self.loggers.discard(name)
        self.judge_only.discard(name)

    def is_immutable(self, node: ast.AST) -> bool:
        """Return whether nobody can change the value of an expression."""
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare)):
            return True
        if isinstance(node, ast.Name):
            return node.id not in self.reachable
        if isinstance(node, (ast.Tuple, ast.UnaryOp, ast.BinOp)):
            return all(map(self.is_immutable, children(node)))
        if isinstance(node, ast.Call):
            return get_dotted_name(node.func).rpartition(".")[2] in IMMUTABLE_CALLS
        return False

    def hand_over_arguments(self, node: ast.AST) -> None:
        """Hand over all that the calls in an expression are given."""
        for item in walk(node):
            if isinstance(item, ast.Call):
                self.hand_over(item)

    def hand_over(self, node: ast.AST) -> None:
        """Make all objects dependent that the code can reach through an expression."""
        pending, seen = list(free_names(node)), set[str]()
        while pending:
            if (name := pending.pop()) in self.reachable and name not in seen:
                seen.add(name)
                self.levels[name] = Level.DEPENDENT
                pending += self.reachable[name]
                pending += [key for key, found in self.reachable.items() if name in found]
