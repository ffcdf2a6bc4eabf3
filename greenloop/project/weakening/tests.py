"""Tests of a project's files as they are compared: their checks, values and cases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from greenloop.project.weakening.checks import Check, list_checks, list_names, list_values
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import parse_test_functions

# What depends on the machine: its system, its Python, and what is installed there.
_PLATFORM = re.compile(
    r"\b(sys\.platform|platform|version_info|os\.name|importorskip|which|find_spec|hasattr|win|win32"
    r"|windows|linux|darwin|macos|posix|pypy|cpython|py3\d+|python ?3[\d.]*|(not )?installed)\b",
    re.IGNORECASE,
)
_PATCHING = re.compile(r"(^|\.)(patch(\.(object|dict|multiple))?|setattr|setitem)$")


@dataclass(frozen=True)
class ComparedTest:
    """A test, or a helper with checks; `test` is its node id, `skip` why it may not run."""

    test: str
    line: int
    body: str
    checks: tuple[Check, ...]
    values: frozenset[str]
    names: frozenset[str]
    cases: tuple[str, ...] = ()
    skip: str = ""
    mocked: frozenset[str] = field(default_factory=frozenset)
    is_helper: bool = False

    @property
    def name(self) -> str:
        return self.test.rpartition("::")[2]


def read_tests(texts: Mapping[str, str]) -> dict[str, ComparedTest]:
    """Return the tests and checking helpers of test files by node id; those of base classes, too."""
    found: dict[str, ComparedTest] = {}
    for path, text in texts.items():
        can_skip = {item.name for item in parse_test_functions(text) if item.can_skip}
        for name, node, classes in _iter_functions(parse_or_empty(text).body):
            item = _read(f"{path}::{name}", node, classes, name in can_skip)
            if not item.is_helper or item.checks:
                found.setdefault(item.test, item)
    return found


def _iter_functions(
    body: list[ast.stmt], classes: tuple[ast.ClassDef, ...] = ()
) -> Iterator[tuple[str, Function, tuple[ast.ClassDef, ...]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _iter_functions(node.body, (*classes, node))
        elif isinstance(node, Function):
            yield "::".join(item.name for item in (*classes, node)), node, classes


def _read(
    test: str, node: Function, classes: tuple[ast.ClassDef, ...], can_skip: bool
) -> ComparedTest:
    marks = [*node.decorator_list, *(mark for item in classes for mark in item.decorator_list)]
    return ComparedTest(
        test=test,
        line=node.lineno,
        body="\n".join(map(ast.unparse, node.body)),
        checks=tuple(list_checks(node.body)),
        values=list_values(node),
        names=list_names(node),
        cases=tuple(case for mark in marks for case in _list_cases(mark)),
        skip=_explain_skip(node, marks) if can_skip else "",
        mocked=frozenset(_list_mocked(node)),
        is_helper=not node.name.startswith("test"),
    )


def _list_cases(mark: ast.expr) -> Iterator[str]:
    """Yield the cases of a `parametrize` mark whose list is written out."""
    match mark:
        case ast.Call(func=func, args=[_, ast.List(elts=cases) | ast.Tuple(elts=cases), *_]):
            if ast.unparse(func).endswith("parametrize"):
                yield from map(ast.unparse, cases)


def _explain_skip(node: Function, marks: list[ast.expr]) -> str:
    """Return what skips a test, '' where it is a matter of the machine that it runs on."""
    parts = [ast.unparse(mark) for mark in marks if re.search(r"skip|xfail", ast.unparse(mark))]
    calls = (item for item in ast.walk(node) if isinstance(item, ast.Call))
    parts += [text for text in map(ast.unparse, calls) if re.search(r"\b(skip|xfail)\w*\(", text)]
    body = "\n".join(map(ast.unparse, node.body))
    if parts and _PLATFORM.search("\n".join((*parts, body if "if " in body else ""))):
        return ""
    return parts[0] if parts else "a mark of its file or class"


def _list_mocked(node: Function) -> Iterator[str]:
    """Yield the last names of what a test replaces by `patch` or `monkeypatch`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and _PATCHING.search(ast.unparse(call.func)):
            texts = [i.value for i in call.args[:2] if isinstance(i, ast.Constant)]
            yield from (str(text).rpartition(".")[2] for text in texts if isinstance(text, str))
