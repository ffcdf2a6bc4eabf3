"""The tests of a file, each as one list of statements."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from greenloop.testsuite.parser import is_test_class
from greenloop.testsuite.scenarios.assertions import as_expectation, as_plain, block_kind
from greenloop.testsuite.scenarios.inlining import (
    AttributeNames,
    inline_call,
    load,
    wrap_in_fixture,
)
from greenloop.testsuite.scenarios.nodes import located
from greenloop.testsuite.scenarios.records import NotObservable, RefusedError
from greenloop.testsuite.scenarios.scope import Function, dotted_name, free_names

BUILTIN_FIXTURES = frozenset(
    "tmp_path tmp_path_factory monkeypatch capsys capfd caplog recwarn".split()
)
_BEFORE = ("setUpClass", "setup_class", "setup_method", "setUp", "asyncSetUp")
_AFTER = ("asyncTearDown", "tearDown", "teardown_method", "teardown_class", "tearDownClass")
_HARMLESS_MARKS = frozenset({"asyncio", "anyio", "usefixtures", "timeout", "slow", "unit"})
_MAX_INLINED = 40


@dataclass(frozen=True)
class Table:
    """The rows of one `parametrize`: names of its columns, and an expression for the rows."""

    names: tuple[str, ...]
    rows: ast.expr


@dataclass(frozen=True)
class FlatTest:
    """A test with its fixtures, `setUp` and helpers written out in its body."""

    name: str
    line: int
    body: list[ast.stmt]
    fixtures: tuple[str, ...]
    tables: tuple[Table, ...]
    is_async: bool


@dataclass
class TestModule:
    """The definitions of a test file; `preamble` is what stands outside of tests and fixtures."""

    __test__ = False

    preamble: list[ast.stmt] = field(default_factory=list)
    fixtures: dict[str, tuple[Function, dict[str, ast.expr]]] = field(default_factory=dict)
    helpers: dict[str, Function] = field(default_factory=dict)
    tests: list[tuple[Function, tuple[ast.ClassDef, ...]]] = field(default_factory=list)


def read_test_module(tree: ast.Module) -> TestModule:
    """Return the definitions of a test file."""
    found = TestModule()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_test_class(node):
            _read_test_class(found, node, ())
        elif isinstance(node, Function):
            _read_function(found, node)
        elif not _is_main_guard(node):
            found.preamble.append(node)
    return found


def _read_function(found: TestModule, node: Function) -> None:
    options = _fixture_options(node)
    if options is not None:
        named = options.get("name")
        key = str(named.value) if isinstance(named, ast.Constant) else node.name
        found.fixtures[key] = (node, options)
    elif node.name.startswith("test"):
        found.tests.append((node, ()))
    else:
        found.helpers[node.name] = node
        found.preamble.append(node)


def _read_test_class(
    found: TestModule, node: ast.ClassDef, outer: tuple[ast.ClassDef, ...]
) -> None:
    for item in node.body:
        if isinstance(item, ast.ClassDef) and is_test_class(item):
            _read_test_class(found, item, (*outer, node))
        elif isinstance(item, Function) and _fixture_options(item) is not None:
            _read_function(found, item)
        elif isinstance(item, Function) and item.name.startswith("test"):
            found.tests.append((item, (*outer, node)))


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _fixture_options(node: Function) -> dict[str, ast.expr] | None:
    """Return the options of a fixture; None for other functions."""
    for item in node.decorator_list:
        called = item.func if isinstance(item, ast.Call) else item
        if dotted_name(called) in ("pytest.fixture", "fixture", "pytest_asyncio.fixture"):
            options = item.keywords if isinstance(item, ast.Call) else []
            return {key.arg: key.value for key in options if key.arg is not None}
    return None


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
        body = [self._attributes.visit(item) for item in self._expand(body, 0)]
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
            self._tables.append(_read_table(node))
        elif mark == "usefixtures" and isinstance(node, ast.Call):
            yield from (str(item.value) for item in node.args if isinstance(item, ast.Constant))
        elif mark not in _HARMLESS_MARKS and not _is_patch(node):
            raise RefusedError(f"decorator {ast.unparse(called)}", node.lineno)

    def _wrap_in_patches(self, node: Function) -> tuple[list[ast.stmt], int]:
        """Return the body within the mocks of its decorators, and how many parameters these take."""
        body, parameters, taken = copy.deepcopy(node.body), self._parameters(node), 0
        for item in reversed(node.decorator_list):
            if isinstance(item, ast.Call) and _is_patch(item):
                target = None
                if _gives_mock(item):
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
        body = [copy.deepcopy(item) for owner in self._classes for item in owner.body]
        found: list[ast.stmt] = []
        for item in body:
            if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
                targets = item.targets if isinstance(item, ast.Assign) else [item.target]
                known = [t for t in targets if isinstance(t, ast.Name)]
                made = [ast.Name(f"self__{t.id}", ast.Store()) for t in known]
                found.append(located(ast.Assign(list[ast.expr](made), item.value), item))
        return found

    # -- fixtures

    def _autouse(self) -> list[str]:
        options = {key: found for key, (_, found) in self._module.fixtures.items()}
        return [key for key, found in options.items() if "autouse" in found]

    def _set_up(self, names: tuple[str, ...]) -> list[ast.stmt]:
        body: list[ast.stmt] = []
        for key in names:
            if key in self._methods:
                body += copy.deepcopy(self._methods[key].body)
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
                fixture = _with_parameter(fixture, f"{key}__param")
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

    def _expand(self, body: list[ast.stmt], depth: int) -> list[ast.stmt]:
        """Return statements with assertions in one form, helpers written out, awaits hoisted."""
        made: list[ast.stmt] = []
        for item in [part for statement in body for part in as_expectation(statement)]:
            item = as_plain(_as_awaited(item))
            if isinstance(item, Function):
                self._local[item.name] = item
            for key in ("body", "orelse", "finalbody"):
                inner = getattr(item, key, None)
                if isinstance(inner, list) and not isinstance(item, (Function, ast.ClassDef)):
                    setattr(item, key, self._expand(inner, depth))
            made += self._expand_statement(item, depth)
        return made

    def _expand_statement(self, node: ast.stmt, depth: int) -> list[ast.stmt]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return []
        call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
        call = call.value if isinstance(call, ast.Await) else call
        helper = self._helper(call)
        if helper is not None and isinstance(call, ast.Call):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            return self._inline(helper, call, target, depth)
        hoisting = _Hoisting(self._helper, self._next_number)
        changed = node if isinstance(node, _COMPOUND) else hoisting.visit(node)
        hoisted = self._expand(hoisting.statements, depth) if hoisting.has_helper else []
        return [*(hoisted or hoisting.statements), changed]

    def _inline(
        self, helper: Function, call: ast.Call, target: ast.expr | None, depth: int
    ) -> list[ast.stmt]:
        self._inlined += 1
        if self._inlined > _MAX_INLINED:
            raise RefusedError("helpers that call themselves, or too many", call.lineno)
        return self._expand(inline_call(helper, call, target, self._next_number()), depth + 1)

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
        return helper if helper is not None and _asserts(helper) else None


_COMPOUND = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.If, ast.While, ast.Try)


class _Hoisting(ast.NodeTransformer):
    """Moves awaited values and results of helper methods into statements of their own."""

    def __init__(
        self, helper: Callable[[ast.AST], Function | None], number: Callable[[], int]
    ) -> None:
        self._helper, self._number = helper, number
        self.statements: list[ast.stmt] = []
        self.has_helper = False

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip
    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _skip

    def visit_Expr(self, node: ast.Expr | ast.Assign) -> ast.AST:
        """Leave what is awaited in place, as it is in a statement of its own already."""
        value = node.value
        if isinstance(value, ast.Await):
            value.value = self.visit(value.value)
            return node
        return self.generic_visit(node)

    visit_Assign = visit_Expr

    def visit_Await(self, node: ast.Await) -> ast.expr:
        if self._helper(node.value) is None:
            self.generic_visit(node)
        else:
            self.has_helper = True
        return self._hoist(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _is_asyncio_run(node):
            return self.visit_Await(located(ast.Await(node.args[0]), node))
        self.generic_visit(node)
        if self._helper(node) is None:
            return node
        self.has_helper = True
        return self._hoist(node)

    def _hoist(self, value: ast.expr) -> ast.expr:
        key = f"value__{self._number()}"
        target = ast.Name(key, ast.Store())
        self.statements.append(located(ast.Assign([target], value), value))
        return load(key, value)


def _is_asyncio_run(node: ast.AST) -> bool:
    is_run = isinstance(node, ast.Call) and dotted_name(node.func) == "asyncio.run"
    return is_run and len(getattr(node, "args", ())) == 1


def _as_awaited(node: ast.stmt) -> ast.stmt:
    """Return a statement that awaits what it would run in an event loop of its own."""
    if isinstance(node, (ast.Expr, ast.Assign)) and _is_asyncio_run(node.value):
        node.value = located(ast.Await(node.value.args[0]), node)  # type: ignore[attr-defined]
    return node


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for item in body:
        yield from ast.walk(item)


def _is_async(node: ast.AST) -> bool:
    return isinstance(node, (ast.Await, ast.AsyncWith, ast.AsyncFor))


def _asserts(function: Function) -> bool:
    """Return whether a helper asserts something itself."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) or block_kind(node):
            return True
        if isinstance(node, ast.Call) and dotted_name(node.func).startswith("self.assert"):
            return True
    return False


def _is_patch(node: ast.expr) -> bool:
    called = dotted_name(node.func) if isinstance(node, ast.Call) else ""
    return called.removeprefix("unittest.").removeprefix("mock.") in _PATCHES


_PATCHES = {"patch": 1, "patch.object": 2, "patch.dict": 0}


def _gives_mock(node: ast.Call) -> bool:
    """Return whether a patch makes its mock itself, and so hands it to the test."""
    called = dotted_name(node.func).removeprefix("unittest.").removeprefix("mock.")
    given = {item.arg for item in node.keywords}
    return called != "patch.dict" and len(node.args) <= _PATCHES[called] and "new" not in given


def _read_table(node: ast.Call) -> Table:
    options = {item.arg: item.value for item in node.keywords}
    if "indirect" in options:
        raise RefusedError("parametrize with indirect", node.lineno)
    named = node.args[0] if node.args else options.get("argnames")
    rows = node.args[1] if len(node.args) > 1 else options.get("argvalues")
    if rows is None or named is None:
        raise RefusedError("parametrize in an unknown form", node.lineno)
    try:
        columns = ast.literal_eval(named)
    except ValueError:
        raise RefusedError("parametrize with computed names", node.lineno) from None
    if isinstance(columns, str):
        columns = [item.strip() for item in columns.split(",") if item.strip()]
    elif len(columns) == 1:
        raise RefusedError("parametrize with a list of one name", node.lineno)
    return Table(tuple(columns), rows)


def _with_parameter(fixture: Function, parameter: str) -> Function:
    """Return a fixture with `request.param` as a name."""
    changed = copy.deepcopy(fixture)
    for node in ast.walk(changed):
        for key, value in ast.iter_fields(node):
            if dotted_name(value) == "request.param" if isinstance(value, ast.AST) else False:
                setattr(node, key, load(parameter, node))
            elif isinstance(value, list):
                value[:] = [
                    (
                        load(parameter, node)
                        if isinstance(item, ast.AST) and dotted_name(item) == "request.param"
                        else item
                    )
                    for item in value
                ]
    return changed
