"""Marks, calls and handlers that keep a test from running or from failing."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from greenloop.project.weakening.bindings import Bindings, resolve
from greenloop.project.weakening.conditions.strength import BROAD, EXPECTING, collect_names
from greenloop.project.weakening.machines import holds_here, is_about_machine
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

_MARK = re.compile(r"\b(mark\.(skip|skipif|xfail)|skip|skipIf|skipUnless|expectedFailure)$")
_VERSION = re.compile("version|implementation")  # the project may run on another Python
FAILURES = frozenset({"AssertionError", *BROAD})
_FAILING = re.compile(r"((pytest|self|cls|sys|os)\.)?_?(fail|exit)")
_CALLS = frozenset({"skip", "xfail", "skipTest", "SkipTest"})
_MISSING = re.compile(r"ImportError|ModuleNotFound|NotImplementedError|OSError|PermissionError")


def explain_skip(marks: Sequence[ast.expr], body: Sequence[ast.stmt], bound: Bindings) -> str:
    """Return the mark or call that skips a test, or '' if it applies only to other machines.

    `marks` are those of the test, its classes and its file. A false condition on the machine is
    found by running the test: it passed before, and does not run now.
    """
    found = (mark for item in marks for mark in _find_skipping(resolve(item, bound)))
    named = next((ast.unparse(mark) for mark in found if not _asks_for_machine(mark)), "")
    return named or next(_list_calls(body, False), "")


def list_marks(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """Yield the `pytestmark` values of a file or class."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                yield value


def _find_skipping(mark: ast.expr) -> Iterator[ast.expr]:
    """Yield the marks in an expression that skip a test or hide its failure."""
    match mark:
        case ast.Call(func=function) if _MARK.search(ast.unparse(function)):
            yield mark
        case ast.Attribute() | ast.Name() if _MARK.search(ast.unparse(mark)):
            yield mark
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _find_skipping(part)


def _asks_for_machine(mark: ast.expr) -> bool:
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func).endswith(".skip"):
        return False
    conditions = [*mark.args[:1], *(i.value for i in mark.keywords if i.arg == "condition")]
    is_unless = ast.unparse(mark.func).endswith("skipUnless")
    holds = (holds_here(item) for item in conditions if not _VERSION.search(ast.unparse(item)))
    is_here = any(found is not None and found != is_unless for found in holds)
    return not is_here and any(map(is_about_machine, conditions))


def _list_calls(body: Sequence[ast.stmt], is_excused: bool) -> Iterator[str]:
    """Yield the calls that skip a test on any machine."""
    for node in body:
        match node:
            case ast.If(test=test, body=inner, orelse=other):
                excused = is_excused or is_about_machine(test)
                yield from _list_calls([*inner, *other], excused)
            case ast.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                yield from _list_calls([*inner, *other, *last], is_excused)
                for item in handlers:
                    yield from _list_calls(item.body, is_excused or is_missing(item))
            case ast.With(body=inner) | ast.AsyncWith(body=inner) | ast.For(body=inner):
                yield from _list_calls(inner, is_excused)
            case _ if not is_excused:
                calls = (item for item in ast.walk(node) if isinstance(item, ast.Call))
                yield from (ast.unparse(item) for item in calls if _is_skipping(item))


def is_missing(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler is for an error of a machine that lacks something."""
    return handler.type is not None and bool(_MISSING.search(ast.unparse(handler.type)))


def _is_skipping(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] in _CALLS


def hides_failure(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches an assertion's failure and does not fail itself."""
    caught = {"BaseException"} if handler.type is None else collect_names(handler.type)
    return not FAILURES.isdisjoint(caught) and goes_on(handler)


def goes_on(handler: ast.ExceptHandler) -> bool:
    """Return whether a test does not fail after a handler: no assertion, `raise` or `fail`."""
    nodes = (item for part in handler.body for item in ast.walk(part))
    return not any(isinstance(i, ast.Assert) or is_failing(i) for i in nodes)


def find_excusing(
    before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[tuple[str, str, str, int]]:
    """Yield the helpers of test files that newly hide an error from the tests that call them.

    Each is (node id, old handler or head, new handler, line).
    """
    for path, text in ((p, t) for p, t in after.items() if is_test_path(p)):
        for name, old, new in _find_excusing(before.get(path, ""), text):
            shown = ast.unparse(old) if old else f"def {name}"
            yield f"{path}::{name}", shown, ast.unparse(new), new.lineno


def _find_excusing(
    before: str, after: str
) -> Iterator[tuple[str, ast.ExceptHandler | None, ast.ExceptHandler]]:
    """Yield the helpers of a test file that newly go on after an error: (name, old, new handler).

    The old handler failed on the error, or is None: then the new one hides every failure and does
    not use the exception.
    """
    old = _list_handlers(before)
    for name, handlers in _list_handlers(after).items():
        known = {i: ast.unparse(i.type or ast.Constant(None)) for i in old.get(name, ())}
        went_on = {kind for item, kind in known.items() if goes_on(item)}
        ended = {kind: item for item, kind in known.items() if kind not in went_on}
        for item in filter(goes_on, handlers):
            turned = ended.get(ast.unparse(item.type or ast.Constant(None)))
            is_new = name in old and not any(map(hides_failure, known))
            is_kept = item.name in set().union(*map(collect_names, item.body))
            if turned is not None or (is_new and hides_failure(item) and not is_kept):
                yield name, turned, item


def _list_handlers(text: str) -> dict[str, list[ast.ExceptHandler]]:
    """Return the handlers in the functions of a file, without tests, by function name."""
    functions = (i for i in ast.walk(parse_or_empty(text)) if isinstance(i, Function))
    return {
        function.name: [i for i in ast.walk(function) if isinstance(i, ast.ExceptHandler)]
        for function in functions
        if not function.name.startswith("test")
    }


def is_failing(node: ast.AST) -> bool:
    """Return whether a statement or expression always makes the test fail."""
    match node:
        case ast.Expr(value=inner):
            return is_failing(inner)
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Call(func=function):
            return bool(_FAILING.fullmatch(ast.unparse(function)))
    return isinstance(node, ast.Raise)


def waits_for_error(item: ast.withitem) -> bool:
    """Return whether a `with` item is `raises`, so that the first error ends its block."""
    match item.context_expr:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in EXPECTING and "raises" in name.lower()
    return False


def list_suppressed(item: ast.withitem, bound: Bindings) -> set[str]:
    """Return the exceptions that `suppress` hides, or the test failures that `raises` expects."""
    call = resolve(item.context_expr, bound)
    name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
    named = collect_names(call) - {name}
    return named if name == "suppress" else named & FAILURES if name in EXPECTING else set()
