"""A module that notes which of its statements and branches are run.

By syntax tree, so that it works the same in every sandbox and Python, needs nothing inside the
wall, and costs one byte store a statement.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

_NOTES = "_reached_by_tests"
# The notes outlive a reload of the module, and a second import of it.
_HEAD = (
    f"import sys as {_NOTES}\n{_NOTES} = {_NOTES}.__dict__.setdefault({_NOTES!r}, bytearray(%d))"
)
_BITS = 3900  # of one message; a longer module is told in parts
Defining = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Noted:
    """The noting source, and what each of its notes stands for: a line, or a branch `12->15`."""

    source: str
    lines: dict[int, int]
    branches: dict[int, str]

    @property
    def count(self) -> int:
        return len(self.lines) + len(self.branches)


def noting(code: str) -> Noted:
    """Raises SyntaxError, ValueError or RecursionError where the code does not parse."""
    tree = ast.parse(code)
    notes = _Noting()
    tree.body = notes.body(tree.body)
    at = _after_head(tree.body)
    tree.body[at:at] = ast.parse(_HEAD % (len(notes.lines) + len(notes.branches))).body
    source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return Noted(source, notes.lines, notes.branches)


def telling(module: str, count: int) -> str:
    """A test file that tells, in its failures' messages, what was noted: to be run last."""
    parts = range(0, max(count, 1), _BITS)
    text = f"import sys\n\nimport {module}\n"
    for start in parts:
        text += (
            f"\n\ndef test_reached_{start}():\n"
            f"    notes = sys.{_NOTES}[{start}:{start + _BITS}]\n"
            '    raise AssertionError("notes:" + "".join("01"[bool(note)] for note in notes))\n'
        )
    return text


def _after_head(body: Sequence[ast.stmt]) -> int:
    """After the docstring and `from __future__`, which must come first."""
    at = 0
    for number, node in enumerate(body):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            at = number + 1
    if not at and body and _is_text(body[0]):
        return 1
    return at


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


class _Noting:
    def __init__(self) -> None:
        self.lines: dict[int, int] = {}
        self.branches: dict[int, str] = {}
        self._by_line: dict[int, int] = {}

    def body(self, body: list[ast.stmt], *, after: str = "exit") -> list[ast.stmt]:
        """The statements, each with a note before it. `after` is where the last one goes."""
        noted: list[ast.stmt] = []
        for number, node in enumerate(body):
            following = str(body[number + 1].lineno) if number + 1 < len(body) else after
            if not (_is_text(node) or _is_future(node)):
                noted.append(self._line(node.lineno))
            noted.append(self._inside(node, following))
        return noted

    def _line(self, line: int) -> ast.stmt:
        number = self._by_line.get(line)
        if number is None:
            number = self._by_line[line] = len(self.lines) + len(self.branches)
            self.lines[number] = line
        return _note(number)

    def _branch(self, origin: int, to: str) -> ast.stmt:
        number = len(self.lines) + len(self.branches)
        self.branches[number] = f"{origin}->{to}"
        return _note(number)

    def _inside(self, node: ast.stmt, following: str) -> ast.stmt:
        if _is_left_out(node):
            return node
        if isinstance(node, Defining):
            node.body = self.body(node.body)
        elif isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While)):
            self._two_ways(node, following)
        elif isinstance(node, ast.Match):
            self._cases(node, following)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            node.body = self.body(node.body, after=following)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._tried(node, following)  # type: ignore[arg-type]
        return node

    def _two_ways(self, node: ast.If | ast.For | ast.AsyncFor | ast.While, following: str) -> None:
        """Its body, and the way past it; for a loop that is the way out when it is through."""
        back = following if isinstance(node, ast.If) else str(node.lineno)
        if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
            node.body = self.body(node.body, after=back)  # only one way leads on
            node.orelse = self.body(node.orelse, after=following)
            return
        taken = self._branch(node.lineno, str(node.body[0].lineno))
        other = str(node.orelse[0].lineno) if node.orelse else following
        passed = self._branch(node.lineno, other)
        node.body = [taken, *self.body(node.body, after=back)]
        node.orelse = [passed, *self.body(node.orelse, after=following)]

    def _cases(self, node: ast.Match, following: str) -> None:
        for case in node.cases:
            taken = self._branch(case.pattern.lineno, str(case.body[0].lineno))
            case.body = [taken, *self.body(case.body, after=following)]
        last = node.cases[-1]
        if not (
            isinstance(last.pattern, ast.MatchAs)
            and last.pattern.pattern is None
            and not last.guard
        ):
            none = self._branch(last.pattern.lineno, following)
            node.cases.append(ast.match_case(ast.MatchAs(), None, [none]))

    def _tried(self, node: ast.Try, following: str) -> None:
        node.body = self.body(node.body, after=following)
        for handler in node.handlers:
            handler.body = self.body(handler.body, after=following)
        node.orelse = self.body(node.orelse, after=following)
        node.finalbody = self.body(node.finalbody, after=following)


def _is_left_out(node: ast.stmt) -> bool:
    """What is run by a type checker, or as a program, but never by a test of the module."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
        "__name__ == '__main__'",
    )


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _note(number: int) -> ast.stmt:
    return ast.parse(f"{_NOTES}[{number}] = 1").body[0]
