"""Tests of a project in comparable form: their checks, values and cases."""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from greenloop.project.weakening.assertions import Helpers
from greenloop.project.weakening.bindings import (
    Bindings,
    bind_names,
    read_called,
    read_defaults,
    read_result,
)
from greenloop.project.weakening.cases import list_cases
from greenloop.project.weakening.checks import (
    MAX_CHECKS,
    Check,
    find_helpers,
    list_checks,
)
from greenloop.project.weakening.conditions.strength import EXPECTING, Strength
from greenloop.project.weakening.doubles import is_tool, list_mocked
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.skips import explain_skip, is_failing, list_marks
from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import cache_by_source, parse_or_empty

_MAX_BASES = 5


@dataclass(frozen=True)
class ComparedTest:
    """A test, or a helper with checks, with the checks of all its cases.

    `test` is the node id, `skip` why it may not run, `case_count` the number of literal cases.
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
    def first_check(self) -> str:
        """The text of the first check, '' if there is none."""
        return self.checks[0].shown if self.checks else ""

    @property
    def owner(self) -> str:
        """The test itself, or the test that contains a nested helper."""
        return re.sub(r"(::test\w*)::.*", r"\1", self.test)


@dataclass(frozen=True)
class _Place:
    """Scopes around a function: its classes, the bodies of these and of the file, and the marks.

    `helpers` are the functions in these bodies that check something, `functions` all of them, those
    of base classes in the same file included.
    """

    classes: tuple[Definition, ...] = ()
    bodies: tuple[list[ast.stmt], ...] = ()
    helpers: Mapping[str, Function] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    marks: tuple[ast.expr, ...] = ()

    def enter(self, body: list[ast.stmt], *entered: ast.ClassDef) -> "_Place":
        given = [*(item for node in entered for item in self._list_inherited(node)), *body]
        return _Place(
            (*self.classes, *entered),
            (*self.bodies, body),
            {**self.helpers, **find_helpers(given)},
            {**self.functions, **{i.name: i for i in given if isinstance(i, Function)}},
            (*self.marks, *list_marks(body), *(i for node in entered for i in node.decorator_list)),
        )

    def _list_inherited(self, node: ast.ClassDef, depth: int = 0) -> list[ast.stmt]:
        """Return the bodies of a class's bases in this file, the nearest last."""
        names = [ast.unparse(base) for base in node.bases] if depth < _MAX_BASES else []
        body = self.bodies[0] if self.bodies else []
        bases = [i for i in body if isinstance(i, ast.ClassDef) and i.name in names]
        above = [item for base in bases for item in self._list_inherited(base, depth + 1)]
        return [*above, *(item for base in bases for item in base.body)]

    @cached_property
    def read_in(self) -> Helpers:
        """The functions whose calls are checks, and None for functions that make no test fail."""
        idle = [name for name, node in self.functions.items() if _is_idle(node, self)]
        return {**dict.fromkeys(idle), **self.helpers}

    def iter_functions(self) -> "Iterator[tuple[Function, _Place]]":
        """Yield the functions of the innermost body and its classes, and those nested in them."""
        for node in self.bodies[-1]:
            if isinstance(node, ast.ClassDef):
                yield from self.enter(node.body, node).iter_functions()
            elif isinstance(node, Function):
                yield node, self
                inside = replace(self, classes=(*self.classes, node))
                yield from ((item, inside) for item in node.body if isinstance(item, Function))


def read_tests(
    texts: Mapping[str, str], inlined: frozenset[str] = frozenset()
) -> dict[str, ComparedTest]:
    """Return the tests and checking helpers of test files by node id, also of base classes.

    The bodies of `inlined` helpers are read in place of their calls.
    """
    files = (_read_file(path, text, inlined) for path, text in texts.items())
    return {item.test: item for items in files for item in items}  # as in Python, the last wins


@cache_by_source
def _read_file(path: str, text: str, inlined: frozenset[str]) -> tuple[ComparedTest, ...]:
    body = parse_or_empty(text).body
    bound = _read_constants(body)
    functions = _Place().enter(body).iter_functions()
    found = [_read(path, node, place, bound, inlined) for node, place in functions]
    helps_others = all(item.is_helper for item in found)  # the callers are in other files
    return tuple(i for i in found if not i.is_helper or i.checks or helps_others)


def _read_constants(body: list[ast.stmt]) -> Bindings:
    """Return the values that a file binds to names at its top level, by assignment or import."""
    bound: dict[str, ast.expr] = {}
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import)):
            bind_names(node, bound)
    return bound


def _read(
    path: str, node: Function, place: _Place, bound: Bindings, inlined: frozenset[str]
) -> ComparedTest:
    names = "::".join(item.name for item in (*place.classes, node))
    marks = [*node.decorator_list, *place.marks]
    given = {item.arg for item in (*node.args.args, *node.args.kwonlyargs)}
    outer = {name: value for name, value in bound.items() if name not in given}
    is_inside = any(isinstance(item, Function) for item in place.classes)
    is_test = node.name.startswith("test") and not is_inside
    # pytest never passes a value for a parameter with a default
    outer = {**outer, **read_defaults(node.args)} if is_test else outer
    called = {name: place.functions[name] for name in inlined & place.functions.keys()}
    outer |= {f"{name}()": value for name in called if (value := read_result(called[name]))}
    fixtures = [item for name, item in place.functions.items() if name in given]
    cases, body = list_cases(marks, bound, fixtures), node.body
    found = (i for c in cases for i in list_checks(body, outer, c, place.read_in, inlined))
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
        mocked=frozenset(list_mocked(node)),
        is_helper=not is_test,
    )


def _is_idle(function: Function, place: _Place) -> bool:
    """Return whether a function cannot make a test fail, whatever its name says."""
    nodes = [item for item in ast.walk(function) if isinstance(item, (ast.expr, ast.stmt))]
    called = {read_called(item) for item in nodes if isinstance(item, ast.expr)}
    return called.isdisjoint(place.helpers) and not any(map(is_failing, nodes))


def list_called(item: ComparedTest) -> set[str]:
    """Return the names that a test calls, also as decorators or through `raises(error, name)`.

    Assertions and names that the test defines itself are left out.
    """
    nodes = list(ast.walk(ast.parse(item.body)))
    found = [node for part in nodes for node in _list_functions(part)]
    names = {ast.unparse(i).rpartition(".")[2] for i in found if not isinstance(i, ast.Call)}
    own = {node.name for node in nodes if isinstance(node, Definition)}
    return {name for name in names - own if not is_tool(name)}


def _list_functions(node: ast.AST) -> list[ast.expr]:
    """Return the functions that a call, or the decorators of a definition, call."""
    if isinstance(node, Definition):
        return node.decorator_list
    if not isinstance(node, ast.Call):
        return []
    is_expecting = ast.unparse(node.func).rpartition(".")[2] in EXPECTING
    given = [i for i in node.args[1:] if isinstance(i, (ast.Name, ast.Attribute))]
    return [node.func, *(given[:1] if is_expecting else ())]


def pair_tests(
    old: Mapping[str, ComparedTest], new: Mapping[str, ComparedTest]
) -> dict[str, ComparedTest]:
    """Return the successor of each test: with the same node id, else the same body or name."""
    added = {test: item for test, item in new.items() if test not in old}
    found: dict[str, ComparedTest] = {}
    for test, item in old.items():
        if (now := new.get(test) or _find_moved(item, added)) is not None:
            added.pop(now.test, None)
            found[test] = now
    return found


def is_same(item: ComparedTest, other: ComparedTest | None) -> bool:
    """Return whether two tests differ at most in their place."""
    told = ((i.body, i.checks, i.skip) for i in (item, other) if i is not None)
    return len(set(told)) == 1 and other is not None


def _find_moved(item: ComparedTest, added: Mapping[str, ComparedTest]) -> ComparedTest | None:
    """Return the added test that has the same body or name in another place."""
    alike = [other for other in added.values() if other.is_helper == item.is_helper]
    same = [other for other in alike if other.body == item.body]
    same += [other for other in alike if other.name == item.name]
    return same[0] if same else None


def is_called_by(
    item: ComparedTest, others: Collection[ComparedTest], code: Collection[str] = ()
) -> bool:
    """Return whether another test calls the same names, with a check that is as strong.

    If `code` is given, only these names have to be called.
    """
    strongest = max((check.strength for check in item.checks), default=Strength.NOTHING)
    every = list_called(item)
    called = {*code} or every - {*dir(builtins)} or every
    return any(
        not other.is_helper
        and called <= other.names
        and (not item.checks or any(check.strength >= strongest for check in other.checks))
        for other in others
    )
