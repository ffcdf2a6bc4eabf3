"""What stands in a pytest file, read from its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_IDS = re.compile(r"\bR[1-9][0-9]*\b")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class TestFunction:
    """One test: `name` is `test_x` or `TestClass::test_x`; lines are 1-based and inclusive."""

    __test__ = False

    name: str
    first_line: int
    last_line: int
    requirements: tuple[str, ...]
    skips: bool

    def source(self, code: str) -> str:
        return "\n".join(code.split("\n")[self.first_line - 1 : self.last_line]) + "\n"


def test_functions(code: str) -> list[TestFunction]:
    """All tests of a file, in order; [] where it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    return list(_tests(tree.body, ""))


test_functions.__test__ = False  # type: ignore[attr-defined]


def _tests(body: list[ast.stmt], prefix: str) -> Iterator[TestFunction]:
    for node in body:
        if isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or _is_unittest(node)):
            yield from _tests(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield _read(node, prefix)


def _is_unittest(node: ast.ClassDef) -> bool:
    return any("TestCase" in ast.unparse(base) for base in node.bases)


def _read(node: Function, prefix: str) -> TestFunction:
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    head = (ast.get_docstring(node) or "").strip().split(":")[0]
    return TestFunction(
        name=prefix + node.name,
        first_line=first,
        last_line=node.end_lineno or node.lineno,
        requirements=tuple(dict.fromkeys(_IDS.findall(head))),
        skips=_skips(node),
    )


def _skips(node: Function) -> bool:
    """Whether a test may end without a verdict: skip or xfail, as a mark or a call."""
    marks = " ".join(ast.unparse(item) for item in node.decorator_list)
    calls = (ast.unparse(item.func) for item in ast.walk(node) if isinstance(item, ast.Call))
    called = {"pytest.skip", "pytest.xfail", "pytest.importorskip"} & set(calls)
    return bool(called) or re.search(r"\b(skip|skipif|xfail)\b", marks) is not None


def function_name(test_id: str) -> str:
    """`test_x` or `TestClass::test_x` of a pytest node id, file and parameters taken off."""
    bare = test_id.split("[", 1)[0]
    _, separator, rest = bare.partition(".py::")
    return rest if separator else bare


def without(code: str, name: str) -> str:
    """The file without one test; a class that it leaves empty goes too."""
    found = [item for item in test_functions(code) if item.name == name]
    lines = code.split("\n")
    for item in reversed(found):
        del lines[item.first_line - 1 : item.last_line]
    remaining = "\n".join(lines)
    return _without_empty_class(code, remaining, name) if "::" in name else remaining


def _without_empty_class(before: str, after: str, name: str) -> str:
    owner = name.rsplit("::", 1)[0]
    if any(item.name.startswith(owner + "::") for item in test_functions(after)):
        return after
    tree = ast.parse(before)
    lines = before.split("\n")
    for node in reversed(tree.body):
        if isinstance(node, ast.ClassDef) and node.name == owner:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
    return "\n".join(lines)
