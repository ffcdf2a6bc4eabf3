"""The tests of a file, each as one list of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.testsuite.scenarios.names import Function, dotted_name, free_names
from greenloop.testsuite.scenarios.nodes import copy_node, located
from greenloop.testsuite.scenarios.reading.assertions import as_expectation, as_plain
from greenloop.testsuite.scenarios.reading.decorators import (
    Table,
    gives_mock,
    is_patch,
    read_table,
    with_parameter,
)
from greenloop.testsuite.scenarios.reading.hoisting import Hoisting, as_awaited
from greenloop.testsuite.scenarios.reading.inlining import (
    AttributeNames,
    inline_call,
    wrap_in_fixture,
)
from greenloop.testsuite.scenarios.reading.test_module import FlatTest, TestModule, asserts
from greenloop.testsuite.scenarios.records import NotObservable, RefusedError

BUILTIN_FIXTURES = frozenset(
    "tmp_path tmp_path_factory monkeypatch capsys capfd caplog recwarn".split()
)
_BEFORE = ("setUpClass", "setup_class", "setup_method", "setUp", "asyncSetUp")
_AFTER = ("asyncTearDown", "tearDown", "teardown_method", "teardown_class", "tearDownClass")
_NEUTRAL_MARKS = frozenset({"asyncio", "anyio", "usefixtures", "timeout", "slow", "unit"})
_MAX_INLINED = 40


def flatten(module: TestModule) -> Iterator[FlatTest | NotObservable]:
    """Yield each test of a file in order, or why it cannot be written as one list of statements."""
    for node, classes in module.tests:
        label = "::".join([*(item.name for item in classes), node.name])
        try:
            yield _Flattening(module, classes).flatten(label, node)
        except RefusedError as error:
            yield NotObservable(label, error.line or node.lineno, error.reason)


class _Flattening:
    """The flattening of one test."""

    def __init__(self, module: TestModule, classes: tuple[ast.ClassDef, ...]) -> None:
        self._module, self._classes = module, classes
        self._methods = {
            item.name: item
            for owner in classes
            for item in owner.body
            if isinstance(item, Function)
        }
        self._attributes = AttributeNames({"self", "cls", *(item.name for item in classes)})
        self._fixtures: list[str] = []
        self._tables: list[Table] = []
        self._local: dict[str, Function] = {}
        self._inlined = 0

    def flatten(self, label: str, node: Function) -> FlatTest:
        decorators = [item for owner in self._classes for item in owner.decorator_list]
        used = [name for item in (*decorators, *node.decorator_list) for name in self._mark(item)]
        if any(self._has_unknown_base(owner) for owner in self._classes):
            raise RefusedError("a test class with a base class of its own")
        columns = {name for table in self._tables for name in table.names}
        body, patched = self._wrap_in_patches(node)
        body = [*self._set_up(_BEFORE), *body, *self._set_up(_AFTER)]
        wanted = [*self._autouse(), *used, *self._parameters(node)[patched:]]
        body = self._wrap([name for name in dict.fromkeys(wanted) if name not in columns], body)
        body = [*self._defaults(node), *self._class_constants(), *body]
        body = [self._attributes.visit(item) for item in self._expand(body)]
        if {"self", "cls"} & {used for item in body for used in free_names(item)}:
            raise RefusedError("the test instance itself is used")
        is_async = isinstance(node, ast.AsyncFunctionDef) or any(map(_is_async, _walk(body)))
        return FlatTest(
            label, node.lineno, body, tuple(self._fixtures), tuple(self._tables), is_async
        )

    def _has_unknown_base(self, owner: ast.ClassDef) -> bool:
        return any("TestCase" not in ast.unparse(base) for base in owner.bases)

    # -- decorators and parameters

    def _mark(self, node: ast.expr) -> Iterator[str]:
        """Read a decorator; yield the fixtures that it names."""
        called = node.func if isinstance(node, ast.Call) else node
        mark = dotted_name(called).rpartition(".")[2]
        if mark == "parametrize" and isinstance(node, ast.Call):
            self._tables.append(read_table(node))
        elif mark == "usefixtures" and isinstance(node, ast.Call):
            yield from (str(item.value) for item in node.args if isinstance(item, ast.Constant))
        elif mark not in _NEUTRAL_MARKS and not is_patch(node):
            raise RefusedError(f"decorator {ast.unparse(called)}", node.lineno)

    def _wrap_in_patches(self, node: Function) -> tuple[list[ast.stmt], int]:
        """Return the body within the mocks of its decorators, and how many parameters these take."""
        body, parameters, taken = [*map(copy_node, node.body)], self._parameters(node), 0
        for item in reversed(node.decorator_list):
            if isinstance(item, ast.Call) and is_patch(item):
                target = None
                if gives_mock(item):
                    if taken >= len(parameters):
                        raise RefusedError("a patch without a parameter", item.lineno)
                    target, taken = ast.Name(parameters[taken], ast.Store()), taken + 1
                body = [located(ast.With([ast.withitem(item, target)], body), item)]
        return body, taken

    def _parameters(self, node: Function) -> list[str]:
        spec = node.args
        named = [item.arg for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        named = named[: len(named) - len(spec.defaults)] if spec.defaults else named
        return [item for item in named if item not in ("self", "cls")]

    def _defaults(self, node: Function) -> list[ast.stmt]:
        named = node.args.args[len(node.args.args) - len(node.args.defaults) :]
        return [
            located(ast.Assign([ast.Name(item.arg, ast.Store())], value), node)
            for item, value in zip(named, node.args.defaults, strict=True)
        ]

    def _class_constants(self) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for item in [part for owner in self._classes for part in owner.body]:
            if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
                targets = item.targets if isinstance(item, ast.Assign) else [item.target]
                known = [t for t in targets if isinstance(t, ast.Name)]
                made = [ast.Name(f"self__{t.id}", ast.Store()) for t in known]
                value = copy_node(item.value)
                found.append(located(ast.Assign(list[ast.expr](made), value), item))
        return found

    # -- fixtures

    def _autouse(self) -> list[str]:
        options = {key: found for key, (_, found) in self._module.fixtures.items()}
        return [key for key, found in options.items() if "autouse" in found]

    def _set_up(self, names: tuple[str, ...]) -> list[ast.stmt]:
        body: list[ast.stmt] = []
        for key in names:
            if key in self._methods:
                body += map(copy_node, self._methods[key].body)
        return body

    def _wrap(self, names: list[str], body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body within its fixtures, each once and after those that it uses."""
        for key in reversed(self._close(names, ())):
            if key in BUILTIN_FIXTURES:
                self._fixtures.append(key)
                continue
            fixture, options = self._module.fixtures[key]
            if "params" in options:
                self._tables.append(Table((f"{key}__param",), options["params"]))
                fixture = with_parameter(fixture, f"{key}__param")
            body = wrap_in_fixture(fixture, key, body)
        return body

    def _close(self, names: list[str], outer: tuple[str, ...]) -> list[str]:
        """Return fixtures with those that they use, in the order in which they are made."""
        found: list[str] = []
        for key in names:
            if key in outer or (key not in self._module.fixtures and key not in BUILTIN_FIXTURES):
                raise RefusedError(f"fixture {key}")
            if key in self._module.fixtures:
                used = self._parameters(self._module.fixtures[key][0])
                inner = [item for item in used if item != "request"]
                found += self._close(inner, (*outer, key))
            found.append(key)
        return list(dict.fromkeys(found))

    # -- helpers

    def _expand(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements with assertions in one form, helpers written out, awaits hoisted."""
        made: list[ast.stmt] = []
        for item in [part for statement in body for part in as_expectation(statement)]:
            item = as_plain(as_awaited(item))
            if isinstance(item, Function):
                self._local[item.name] = item
            for key in ("body", "orelse", "finalbody"):
                inner = getattr(item, key, None)
                if isinstance(inner, list) and not isinstance(item, (Function, ast.ClassDef)):
                    setattr(item, key, self._expand(inner))
            made += self._expand_statement(item)
        return made

    def _expand_statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return []
        call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
        call = call.value if isinstance(call, ast.Await) else call
        helper = self._helper(call)
        if helper is not None and isinstance(call, ast.Call):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            return self._inline(helper, call, target)
        hoisting = Hoisting(self._helper, self._next_number)
        changed = node if isinstance(node, _COMPOUND) else hoisting.visit(node)
        hoisted = self._expand(hoisting.statements) if hoisting.has_helper else []
        return [*(hoisted or hoisting.statements), changed]

    def _inline(self, helper: Function, call: ast.Call, target: ast.expr | None) -> list[ast.stmt]:
        self._inlined += 1
        if self._inlined > _MAX_INLINED:
            raise RefusedError("helpers that call themselves, or too many", call.lineno)
        return self._expand(inline_call(helper, call, target, self._next_number()))

    def _next_number(self) -> int:
        self._inlined += 1
        return self._inlined

    def _helper(self, call: ast.AST | None) -> Function | None:
        """Return the helper that a call is to be replaced by: one that asserts, or a method."""
        if not isinstance(call, ast.Call):
            return None
        owner, _, called = dotted_name(call.func).rpartition(".")
        if owner in ("self", "cls"):
            return self._methods.get(called)
        known = self._module.helpers | self._local
        helper = known.get(called) if not owner else None
        return helper if helper is not None and asserts(helper) else None


_COMPOUND = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.If, ast.While, ast.Try)


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for item in body:
        yield from ast.walk(item)


def _is_async(node: ast.AST) -> bool:
    return isinstance(node, (ast.Await, ast.AsyncWith, ast.AsyncFor))
