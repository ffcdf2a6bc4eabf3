"""The tests of a file, each as one list of statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import MappingProxyType

from greenloop.testsuite.scenarios.names import (
    Function,
    bound_names,
    free_names,
    get_dotted_name,
)
from greenloop.testsuite.scenarios.nodes import copy_node, locate_like
from greenloop.testsuite.scenarios.reading.decorators import (
    Table,
    is_patch,
    parameter_name,
    patch_blocks,
    read_table,
)
from greenloop.testsuite.scenarios.reading.helpers import HelperCalls, TestMethods
from greenloop.testsuite.scenarios.reading.inlining import (
    OF_INSTANCE,
    REQUEST,
    PlainForms,
    own_nodes,
    wrap_in_fixture,
)
from greenloop.testsuite.scenarios.reading.test_module import (
    FlatTest,
    TestFunction,
    TestModule,
)
from greenloop.testsuite.scenarios.records import RefusedError

BUILTIN_FIXTURES = frozenset("tmp_path monkeypatch capsys caplog".split())
_BEFORE = ("setUpClass", "setup_class", "setup_method", "setUp", "asyncSetUp")
_AFTER = ("asyncTearDown", "tearDown", "teardown_method", "teardown_class", "tearDownClass")
_NEUTRAL_MARKS = frozenset({"asyncio", "anyio", "timeout", "slow", "unit"})
_REASONS = MappingProxyType(
    {"given": "a property-based test", "patch": "patch as a decorator of a class"}
)
_ASYNC = (ast.Await, ast.AsyncWith, ast.AsyncFor)


def flatten(module: TestModule, test: TestFunction, names: dict[str, str]) -> FlatTest:
    """Return a test as one list of statements.

    Neutral names of methods that become functions are added to `names`.

    Raises:
        RefusedError: it cannot be written so.
    """
    return _Flattening(module, test.classes, names).flatten(test)


class _Flattening:
    """The flattening of one test."""

    def __init__(
        self, module: TestModule, classes: tuple[ast.ClassDef, ...], names: dict[str, str]
    ) -> None:
        self._module, self._classes, self._names = module, classes, names
        members = [item for owner in classes for item in owner.body]
        self._methods = {item.name: item for item in members if isinstance(item, Function)}
        self._owners = {"self", "cls", *(item.name for item in classes)}
        self._fixtures: list[str] = []
        self._tables: list[Table] = []

    def flatten(self, test: TestFunction) -> FlatTest:
        node = test.node
        if any("TestCase" not in ast.unparse(b) for owner in self._classes for b in owner.bases):
            raise RefusedError("a test class with a base class of its own")
        own = [item for item in node.decorator_list if not is_patch(item)]
        decorators = [*(item for owner in self._classes for item in owner.decorator_list), *own]
        used = [name for item in decorators for name in self._read_mark(item)]
        columns = {name for table in self._tables for name in table.names}
        last = len(node.body) - isinstance(node.body[-1], ast.Return)
        before, after = list(self._set_up(_BEFORE)), list(self._set_up(_AFTER))
        body, patched = patch_blocks(node, list(map(copy_node, node.body[:last])))
        body = self._write_out_helpers([*body, *after], before, columns)
        methods = TestMethods(self._methods, self._names)
        body = [*before, *methods.define(body, before), *body]
        automatic = [k for k, (_, options) in self._module.fixtures.items() if "autouse" in options]
        wanted = dict.fromkeys([*automatic, *used, *_parameters(node)])
        body = self._wrap([name for name in wanted if name not in columns | patched], body)
        forms = PlainForms(self._owners, self._methods, methods.defined)
        body = [forms.visit(item) for item in (*self._class_constants(), *body)]
        if {"self", "cls"} & {used for item in body for used in free_names(item)}:
            raise RefusedError("the test instance itself is used")
        is_async = self._module.is_async and any(
            isinstance(part, _ASYNC) for item in body for part in own_nodes(item)
        )
        return FlatTest(
            test.label, node.lineno, body, tuple(self._fixtures), tuple(self._tables), is_async
        )

    def _write_out_helpers(
        self, body: list[ast.stmt], before: list[ast.stmt], columns: set[str]
    ) -> list[ast.stmt]:
        inner = [item for item in body if isinstance(item, ast.FunctionDef)]
        bound = columns | {name for item in (*before, *body) for name in bound_names(item)}
        names = [item.name for item in inner]
        local = {i.name: i for i in inner if names.count(i.name) == 1 and i.name not in bound}
        calls = HelperCalls(self._module.functions, self._methods, local, bound)
        return calls.expand(body)

    def _read_mark(self, node: ast.expr) -> Iterator[str]:
        """Read a decorator; yield the fixtures that it names."""
        called = node.func if isinstance(node, ast.Call) else node
        mark = get_dotted_name(called).rpartition(".")[2]
        if mark == "parametrize" and isinstance(node, ast.Call):
            self._tables.append(read_table(node))
        elif mark == "usefixtures" and isinstance(node, ast.Call):
            yield from (str(item.value) for item in node.args if isinstance(item, ast.Constant))
        elif mark not in _NEUTRAL_MARKS:
            reason = f"decorator {ast.unparse(called)}"
            raise RefusedError(_REASONS.get(mark, reason), node.lineno)

    def _class_constants(self) -> Iterator[ast.stmt]:
        for item in [part for owner in self._classes for part in owner.body]:
            if isinstance(item, ast.Assign):
                known = [target for target in item.targets if isinstance(target, ast.Name)]
                made: list[ast.expr] = [
                    ast.Name(f"{OF_INSTANCE}{t.id}", ast.Store()) for t in known
                ]
                yield locate_like(ast.Assign(made, copy_node(item.value)), item)

    def _set_up(self, names: tuple[str, ...]) -> Iterator[ast.stmt]:
        for key in names:
            if key in self._methods:
                yield from map(copy_node, self._methods[key].body)

    def _wrap(self, names: list[str], body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body within its fixtures, each once and after those that it uses."""
        for key in reversed(self._close(names, ())):
            if key in BUILTIN_FIXTURES:
                self._fixtures.append(key)
            else:
                body = wrap_in_fixture(self._module.fixtures[key][0], key, body)
        return body

    def _close(self, names: list[str], outer: tuple[str, ...]) -> list[str]:
        """Return fixtures with those that they use, in the order in which they are made."""
        found: list[str] = []
        for key in names:
            fixture, options = self._module.fixtures.get(key, (None, {}))
            is_known = fixture is not None or key in BUILTIN_FIXTURES
            if key in outer or not is_known:
                raise RefusedError(f"fixture {key}")
            if fixture is not None:
                used = [name for name in _parameters(fixture) if name != REQUEST]
                found += self._close(used, (*outer, key))
            column = parameter_name(key)
            if "params" in options and not any(column in item.names for item in self._tables):
                self._tables.append(Table((column,), options["params"]))
            found.append(key)
        return list(dict.fromkeys(found))


def _parameters(node: Function) -> list[str]:
    named = [item.arg for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return [item for item in named if item not in ("self", "cls")]
