"""Instrumentation of a module, which then records which of its statements and branches run.

Rewriting the syntax tree works in every sandbox. It costs one byte store for each statement.
"""

import ast
from collections.abc import Sequence
from typing import NamedTuple

_HITS_NAME = "_reached_by_tests"
# The hits survive a reload and a second import of the module.
_PREAMBLE = (
    f"from sys import __dict__ as {_HITS_NAME}\n"
    f"{_HITS_NAME} = {_HITS_NAME}.setdefault(%r, bytearray(%d))"
)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class InstrumentedTree(NamedTuple):
    """Instrumented syntax tree, and the line or branch (`12->15`) of each hit."""

    tree: ast.Module
    lines: dict[int, int]
    branches: dict[int, str]


def instrument_tree(tree: ast.Module, key: str = _HITS_NAME) -> InstrumentedTree:
    """Instrument a tree in place; `key` is the attribute of `sys` that holds the hits."""
    instrumenter = _Instrumenter()
    tree.body = instrumenter.instrument_body(tree.body)
    at = _find_preamble_end(tree.body)
    tree.body[at:at] = ast.parse(_PREAMBLE % (key, instrumenter.hit_count)).body
    lines, branches = instrumenter.lines, instrumenter.branches
    return InstrumentedTree(ast.fix_missing_locations(tree), lines, branches)


def instrument_file(source: str | bytes, key: str = _HITS_NAME) -> InstrumentedTree | None:
    """Instrument the source of a file; return None if it cannot be parsed."""
    try:
        return instrument_tree(ast.parse(source), key)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None


def _find_preamble_end(body: Sequence[ast.stmt]) -> int:
    """Return the index after the docstring and `from __future__`, which must come first."""
    at = 0
    for number, node in enumerate(body):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            at = number + 1
    if not at and body and _is_string_statement(body[0]):
        return 1
    return at


def _is_constant_statement(node: ast.stmt) -> bool:
    """Whether a statement does nothing: a docstring, or the `...` of an overload."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_string_statement(node: ast.stmt) -> bool:
    return _is_constant_statement(node) and isinstance(node.value.value, str)  # type: ignore[attr-defined]


class _Instrumenter:
    def __init__(self) -> None:
        self.lines: dict[int, int] = {}
        self.branches: dict[int, str] = {}
        self._number_by_line: dict[int, int] = {}

    @property
    def hit_count(self) -> int:
        return len(self.lines) + len(self.branches)

    def instrument_body(self, body: list[ast.stmt], *, successor: str = "exit") -> list[ast.stmt]:
        """Return the body with a hit before each statement; `successor` is the line after it."""
        result: list[ast.stmt] = []
        for number, node in enumerate(body):
            following = str(body[number + 1].lineno) if number + 1 < len(body) else successor
            if not (_is_constant_statement(node) or _is_future_import(node)):
                result.append(self._record_line(node.lineno))
            result.append(self._instrument_statement(node, following))
        return result

    def _record_line(self, line: int) -> ast.stmt:
        number = self._number_by_line.get(line)
        if number is None:
            number = self._number_by_line[line] = self.hit_count
            self.lines[number] = line
        return _build_hit_statement(number)

    def _record_branch(self, origin: int, target: str) -> ast.stmt:
        number = self.hit_count
        self.branches[number] = f"{origin}->{target}"
        return _build_hit_statement(number)

    def _instrument_statement(self, node: ast.stmt, successor: str) -> ast.stmt:
        if _is_excluded(node):
            return node
        if isinstance(node, Definition):
            node.body = self.instrument_body(node.body)
        elif isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While)):
            self._instrument_branches(node, successor)
        elif isinstance(node, ast.Match):
            self._instrument_match(node, successor)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            node.body = self.instrument_body(node.body, successor=successor)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._instrument_try(node, successor)  # type: ignore[arg-type]
        return node

    def _instrument_branches(
        self, node: ast.If | ast.For | ast.AsyncFor | ast.While, successor: str
    ) -> None:
        """Record the branches into the body and past it; past a loop means its regular end."""
        back = successor if isinstance(node, ast.If) else str(node.lineno)
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
            node.body = self.instrument_body(node.body, successor=back)  # only one branch
            node.orelse = self.instrument_body(node.orelse, successor=successor)
            return
        taken = self._record_branch(node.lineno, str(node.body[0].lineno))
        other = str(node.orelse[0].lineno) if node.orelse else successor
        passed = self._record_branch(node.lineno, other)
        node.body = [taken, *self.instrument_body(node.body, successor=back)]
        node.orelse = [passed, *self.instrument_body(node.orelse, successor=successor)]

    def _instrument_match(self, node: ast.Match, successor: str) -> None:
        for case in node.cases:
            taken = self._record_branch(case.pattern.lineno, str(case.body[0].lineno))
            case.body = [taken, *self.instrument_body(case.body, successor=successor)]
        last = node.cases[-1]
        if not (
            isinstance(last.pattern, ast.MatchAs)
            and last.pattern.pattern is None
            and not last.guard
        ):
            none = self._record_branch(last.pattern.lineno, successor)
            node.cases.append(ast.match_case(ast.MatchAs(), None, [none]))

    def _instrument_try(self, node: ast.Try, successor: str) -> None:
        node.body = self.instrument_body(node.body, successor=successor)
        for handler in node.handlers:
            handler.body = self.instrument_body(handler.body, successor=successor)
        node.orelse = self.instrument_body(node.orelse, successor=successor)
        node.finalbody = self.instrument_body(node.finalbody, successor=successor)


def _is_excluded(node: ast.stmt) -> bool:
    """Whether a statement is for a type checker, a main program or subclasses, not for tests."""
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)  # `typing` may have another name
        return test == "__name__ == '__main__'" or test.split(".")[-1] == "TYPE_CHECKING"
    if not isinstance(node, Definition):
        return False
    is_abstract = any(ast.unparse(i).endswith("abstractmethod") for i in node.decorator_list)
    return is_abstract and all(
        _is_constant_statement(i) or ast.unparse(i).startswith("raise NotImplementedError")
        for i in node.body
    )


def _is_future_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _build_hit_statement(number: int) -> ast.stmt:
    return ast.parse(f"{_HITS_NAME}[{number}] = 1").body[0]
