"""Helpers of a test file: those that assert are written out where they are called."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from greenloop.syntax.parse import read_literal
from greenloop.testsuite.scenarios.names import Function, bound_names, free_names, walk
from greenloop.testsuite.scenarios.nodes import copy_node, locate_like
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.reading.renaming import rename

_MAX_CALLS = 100  # of helpers in one test, also by one another
_INSTANCE = "self"
_TOO_MUCH = (
    *(Function, ast.ClassDef, ast.Lambda, ast.Return, ast.Yield, ast.YieldFrom, ast.Await),
    *(ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Try, ast.NamedExpr),
)


class HelperCalls:
    """Replaces statements that call a helper by the statements of the helper."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        methods: Mapping[str, Function],
        local: Mapping[str, Function],
        bound: set[str],
    ) -> None:
        """The helpers are functions of the file, methods of the test class, and functions of the
        test; `bound` are the names that the test binds itself.
        """
        of_class = {f"{_INSTANCE}.{key}": item for key, item in methods.items()}
        outside = {key: item for key, item in functions.items() if key not in bound | local.keys()}
        self._helpers = {**outside, **of_class, **local}
        self._local, self._bound, self._count = local, bound | local.keys(), 0

    def expand(self, body: list[ast.stmt], outer: tuple[str, ...] = ()) -> list[ast.stmt]:
        """Return the statements with those of helpers that assert, also within blocks."""
        found: list[ast.stmt] = []
        for node in body:
            key = _get_called_name(node)
            inner = None if key in outer else self._write_out(key, node)
            if inner is not None:
                found += self.expand(inner, (*outer, key))
                continue
            if isinstance(node, (ast.For, ast.With, ast.AsyncWith)):
                node.body = self.expand(node.body, outer)
            found.append(node)
        return found

    def _write_out(self, key: str, node: ast.stmt) -> list[ast.stmt] | None:
        """Return the statements of the helper that a statement calls; None for any other."""
        helper = self._helpers.get(key)
        if helper is None or self._count >= _MAX_CALLS:
            return None
        if key.startswith(f"{_INSTANCE}."):
            helper = bind_instance(helper)
        assert isinstance(node, ast.Expr)
        assert isinstance(node.value, ast.Call)
        given = _match_arguments(helper, node.value)
        parts = [part for item in helper.body for part in walk(item)]
        if given is None or any(isinstance(part, _TOO_MUCH) for part in parts):
            return None
        own = given.keys() | {name for item in helper.body for name in bound_names(item)}
        used = {name for item in helper.body for name in free_names(item)}
        is_other = key not in self._local and bool((used - own) & self._bound)
        if is_other or not any(map(_asserts, parts)):
            return None
        self._count += 1
        names = {name: f"{name}__call{self._count}" for name in own}
        made: list[ast.stmt] = []
        for name, value in given.items():
            target: list[ast.expr] = [ast.Name(names[name], ast.Store())]
            made.append(locate_like(ast.Assign(target, copy_node(value)), node))
        return [*made, *(rename(copy_node(item), names) for item in helper.body)]


class TestMethods:
    """Methods of a test class that do not assert, as functions within the test."""

    __test__ = False

    def __init__(self, methods: Mapping[str, Function], names: dict[str, str]) -> None:
        """A neutral name of each function is added to `names`."""
        self._methods, self._names = methods, names
        self.defined: dict[str, str] = {}

    def define(self, body: list[ast.stmt], before: list[ast.stmt]) -> list[ast.stmt]:
        """Return definitions of the methods that a test uses, unless its `setUp` uses them, too."""
        found: list[ast.stmt] = []
        for key in self._find_used(body):
            self._define(key, set(self._find_used(before)), found)
        return found

    def _define(self, key: str, without: set[str], found: list[ast.stmt]) -> None:
        method = self._methods[key]
        if key in self.defined or key in without or not _is_plain_method(method):
            return
        label = f"{_INSTANCE}__{key}"
        self._names.setdefault(label, f"definition__{len(self._names)}")
        self.defined[key] = self._names[label]
        for other in self._find_used(method.body):
            self._define(other, without, found)
        function = bind_instance(method)
        function.name = self.defined[key]
        found.append(function)

    def _find_used(self, body: list[ast.stmt]) -> list[str]:
        attributes = (part for item in body for part in walk(item) if _is_of_instance(part))
        names = dict.fromkeys(item.attr for item in attributes if isinstance(item, ast.Attribute))
        return [name for name in names if name in self._methods]


def _is_of_instance(node: ast.AST) -> bool:
    owner = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == _INSTANCE


def _is_plain_method(method: Function) -> bool:
    """Return whether a method has an instance, no decorators, and sets no attributes of it."""
    names = [item.arg for item in method.args.args]
    attributes = (part for part in walk(method) if _is_of_instance(part))
    is_reading = all(isinstance(getattr(item, "ctx", None), ast.Load) for item in attributes)
    return names[:1] == [_INSTANCE] and not method.decorator_list and is_reading


def bind_instance(method: Function) -> Function:
    """Return a copy of a method without its first parameter."""
    made = copy_node(method)
    made.args.args = made.args.args[1:]
    return made


def _get_called_name(node: ast.stmt) -> str:
    """Return the name of the function that a statement calls, '' for other statements."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        is_own = function.value.id == _INSTANCE
        return f"{_INSTANCE}.{function.attr}" if is_own else ""
    return function.id if isinstance(function, ast.Name) else ""


def _match_arguments(helper: Function, call: ast.Call) -> dict[str, ast.expr] | None:
    """Return the argument of each parameter; None where that is not plain to see."""
    spec, named = helper.args, {item.arg: item.value for item in call.keywords}
    names = [item.arg for item in (*spec.posonlyargs, *spec.args)]
    has_stars = None in named or any(isinstance(item, ast.Starred) for item in call.args)
    if has_stars or helper.decorator_list or isinstance(helper, ast.AsyncFunctionDef):
        return None
    wanted = [*names, *(item.arg for item in spec.kwonlyargs)]
    defaults = (
        *zip(names[::-1], spec.defaults[::-1], strict=False),
        *zip((item.arg for item in spec.kwonlyargs), spec.kw_defaults, strict=True),
    )
    found = {name: value for name, value in defaults if value and read_literal(value)}
    found |= dict(zip(names, call.args, strict=False))
    found |= {name: value for name, value in named.items() if name in wanted}
    others, left = call.args[len(names) :], {k: v for k, v in named.items() if k not in wanted}
    if (others and not spec.vararg) or (left and not spec.kwarg) or found.keys() != set(wanted):
        return None
    if spec.vararg:
        found[spec.vararg.arg] = ast.Tuple(others, ast.Load())
    if spec.kwarg:
        found[spec.kwarg.arg] = ast.Dict([*map(ast.Constant, left)], [*left.values()])
    return found


def _asserts(node: ast.AST) -> bool:
    is_method = isinstance(node, ast.Attribute) and node.attr.startswith("assert")
    return isinstance(node, ast.Assert) or bool(block_kind(node)) or is_method
