"""Tests of a project's files as they are compared: their checks, values and cases."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from unittest import TestCase

from greenloop.project.weakening.assertions import Helpers, read_called
from greenloop.project.weakening.bindings import Bindings, bind_names, read_defaults
from greenloop.project.weakening.cases import list_cases
from greenloop.project.weakening.checks import (
    MAX_CHECKS,
    Check,
    find_helpers,
    list_checks,
)
from greenloop.project.weakening.conditions.strength import EXPECTING
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.skips import explain_skip, is_failing, list_marks
from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import cache_by_source, parse_or_empty

_SPECIAL = re.compile(r"__(call|init|new)__")
_PATCHING = re.compile(r"(^|\.)(patch(\.(object|dict|multiple))?|setattr|setitem)$")


@dataclass(frozen=True)
class ComparedTest:
    """A test, or a helper with checks, those of all its cases; `test` is its node id, `skip` why it may not
    run, `case_count` the number of cases that are written out.
    """

    test: str
    line: int
    body: str
    checks: tuple[Check, ...]
    values: frozenset[str]
    names: frozenset[str]
    case_count: int = 1
    skip: str = ""
    mocked: frozenset[str] = field(default_factory=frozenset)
    is_helper: bool = False

    @property
    def name(self) -> str:
        return self.test.rpartition("::")[2]

    @property
    def path(self) -> str:
        return self.test.partition("::")[0]

    @property
    def owner(self) -> str:
        """The test itself, or the one in which a helper stands."""
        return re.sub(r"(::test\w*)::.*", r"\1", self.test)


@dataclass(frozen=True)
class _Place:
    """What stands around a function: its classes, their bodies and the file's, and what these define:
    functions that check, and all of them.
    """

    classes: tuple[Definition, ...] = ()
    bodies: tuple[list[ast.stmt], ...] = ()
    helpers: Mapping[str, Function] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    marks: tuple[ast.expr, ...] = ()

    def enter(self, body: list[ast.stmt], *entered: ast.ClassDef) -> "_Place":
        return _Place(
            (*self.classes, *entered),
            (*self.bodies, body),
            {**self.helpers, **find_helpers(body)},
            {**self.functions, **{i.name: i for i in body if isinstance(i, Function)}},
            (*self.marks, *list_marks(body), *(i for node in entered for i in node.decorator_list)),
        )

    def iter_functions(self) -> "Iterator[tuple[Function, _Place]]":
        """Yield the functions of the innermost body, of its classes, and what helps in each of them."""
        for node in self.bodies[-1]:
            if isinstance(node, ast.ClassDef):
                yield from self.enter(node.body, node).iter_functions()
            elif isinstance(node, Function):
                yield node, self
                inside = replace(self, classes=(*self.classes, node))
                inner = (item for item in node.body if isinstance(item, Function))
                yield from ((item, inside) for item in inner if not item.name.startswith("test"))


def read_tests(
    texts: Mapping[str, str], inlined: frozenset[str] = frozenset()
) -> dict[str, ComparedTest]:
    """Return the tests and checking helpers of test files by node id; those of base classes, too.

    Helpers that are `inlined` are read in place of their calls.
    """
    files = (_read_file(path, text, inlined) for path, text in texts.items())
    return {item.test: item for items in files for item in items}  # the last one of a name counts


@cache_by_source
def _read_file(path: str, text: str, inlined: frozenset[str]) -> tuple[ComparedTest, ...]:
    body = parse_or_empty(text).body
    bound = _read_constants(body)
    functions = _Place().enter(body).iter_functions()
    found = (_read(path, node, place, bound, inlined) for node, place in functions)
    return tuple(item for item in found if not item.is_helper or item.checks)


def _read_constants(body: list[ast.stmt]) -> Bindings:
    """Return what a file assigns to names, outside of functions and classes."""
    bound: dict[str, ast.expr] = {}
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bind_names(node, bound)
    return bound


def _read(
    path: str, node: Function, place: _Place, bound: Bindings, inlined: frozenset[str]
) -> ComparedTest:
    names = "::".join(item.name for item in (*place.classes, node))
    marks = [*node.decorator_list, *place.marks]
    given = {item.arg for item in (*node.args.args, *node.args.kwonlyargs)}
    outer = {name: value for name, value in bound.items() if name not in given}
    is_test = node.name.startswith("test")  # pytest gives its defaults no other value
    outer = {**outer, **read_defaults(node)} if is_test else outer
    fixtures = [item for name, item in place.functions.items() if name in given]
    cases, body = list_cases(marks, bound, fixtures), node.body
    helpers: Helpers = {i: None for i in place.functions if _is_idle(place.functions[i], place)}
    helpers = {**helpers, **place.helpers}
    found = (i for c in cases for i in list_checks(body, outer, c, helpers, inlined))
    checks = tuple(islice(found, MAX_CHECKS))
    return ComparedTest(
        test=f"{path}::{names}",
        line=node.lineno,
        body="\n".join(map(ast.unparse, node.body)),
        checks=checks,
        values=list_values(node),
        names=list_names(node),
        case_count=len(cases),
        skip=explain_skip(marks, node.body, bound),
        mocked=frozenset(_list_mocked(node)),
        is_helper=not is_test,
    )


def _is_idle(function: Function, place: _Place) -> bool:
    """Return whether a function can make no test fail, whatever its name says."""
    nodes = [item for item in ast.walk(function) if isinstance(item, (ast.expr, ast.stmt))]
    called = {read_called(item) for item in nodes if isinstance(item, ast.expr)}
    return called.isdisjoint(place.helpers) and not any(map(is_failing, nodes))


def list_patches(text: str) -> dict[str, int]:
    """Return what a file replaces for several tests, by last name, with the line: while it is imported, in
    a fixture that each test has, or as a method of a class.
    """
    found: dict[str, int] = {}
    for node in parse_or_empty(text).body:
        marks = map(ast.unparse, node.decorator_list) if isinstance(node, Function) else ()
        is_fixture = any("autouse=True" in mark for mark in marks)
        if isinstance(node, ast.ClassDef):
            own = (i for i in node.body if isinstance(i, Function) and is_tool(i.name))
            found.update((i.name, i.lineno) for i in own)
        elif is_fixture or not isinstance(node, Function):
            targets = (i for n in ast.walk(node) if isinstance(n, ast.Assign) for i in n.targets)
            names = [i.attr for i in targets if isinstance(i, ast.Attribute)]
            found.update(dict.fromkeys([*names, *_list_mocked(node)], node.lineno))
    return found


def list_shadowed(before: str, after: str) -> dict[str, int]:
    """Return the names that a file imported, and defines itself now, with the line."""
    imports = (i for i in ast.walk(parse_or_empty(before)) if isinstance(i, ast.ImportFrom))
    names = {alias.asname or alias.name for item in imports for alias in item.names}
    found: dict[str, int] = {}
    for node in parse_or_empty(after).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        own = [node.name] if isinstance(node, Definition) else []
        own += [item.id for item in targets if isinstance(item, ast.Name)]
        found.update((name, node.lineno) for name in own if name in names)
    return found


def is_tool(name: str) -> bool:
    """Return whether pytest or unittest has an assertion of a name."""
    return name in EXPECTING or (name.startswith("assert") and hasattr(TestCase, name))


def _list_mocked(node: ast.AST) -> Iterator[str]:
    """Yield the last names of what a test replaces: by `patch`, `monkeypatch`, or an assignment; of a name
    of its own if it calls that itself.
    """
    calls = [item for item in ast.walk(node) if isinstance(item, ast.Call)]
    called = {item.func.id for item in calls if isinstance(item.func, ast.Name)}
    for item in ast.walk(node):
        if isinstance(item, ast.Call) and _PATCHING.search(ast.unparse(item.func)):
            names = [name for target in item.args[:2] if (name := _read_last_name(target))]
            yield from names
            if any(map(_SPECIAL.fullmatch, names)):  # what a call of the object runs
                yield ast.unparse(item.args[0]).rpartition(".")[2]
        elif isinstance(item, ast.Assign) and _is_double(item.value):
            yield from (i.attr for i in item.targets if isinstance(i, ast.Attribute))
            own = (i.id for i in item.targets if isinstance(i, ast.Name))
            yield from (name for name in own if name in called)


def _read_last_name(target: ast.expr) -> str:
    """Return the last name of a dotted one, whose beginning may be put in; '' for anything else."""
    match target:
        case ast.Constant(value=str(text)):
            return text.rpartition(".")[2]
        case ast.JoinedStr(values=[*_, last]) | ast.BinOp(op=ast.Add(), right=last):
            return _read_last_name(last)
    return ""


def _is_double(value: ast.expr) -> bool:
    return isinstance(value, ast.Lambda) or "Mock" in ast.unparse(value)


def list_called(item: ComparedTest) -> set[str]:
    """Return the names that a test calls, as a decorator or through `raises(error, name)`, too, without
    assertions and those that it defines itself.
    """
    nodes = list(ast.walk(ast.parse(item.body)))
    found = [node for part in nodes for node in _list_functions(part)]
    names = {ast.unparse(i).rpartition(".")[2] for i in found if not isinstance(i, ast.Call)}
    own = {node.name for node in nodes if isinstance(node, Definition)}
    return {name for name in names - own if not is_tool(name)}


def _list_functions(node: ast.AST) -> list[ast.expr]:
    """Return what a call, or a definition with decorators, calls."""
    if isinstance(node, Definition):
        return node.decorator_list
    if not isinstance(node, ast.Call):
        return []
    is_expecting = ast.unparse(node.func).rpartition(".")[2] in EXPECTING
    given = [i for i in node.args[1:] if isinstance(i, (ast.Name, ast.Attribute))]
    return [node.func, *(given[:1] if is_expecting else ())]
