"""An instrumented module behaves the same and records its lines and branches."""

import ast
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from greenloop.sandbox.guest.coverage.instrumentation import InstrumentedTree, instrument_tree
from greenloop.syntax.nodes import walk_editable_nodes
from greenloop.syntax.source import Source
from tests.support.programs import read_program

NOTES = "_reached_by_tests"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    vars(sys).pop(NOTES, None)


def instrument(code: str) -> InstrumentedTree:
    return instrument_tree(ast.parse(code))


def run(code: str, *calls: str) -> tuple[set[int], set[str], dict[str, Any]]:
    """Lines and branches that were never reached."""
    noted = instrument(code)
    vars(sys).pop(NOTES, None)
    names: dict[str, Any] = {"__name__": "m"}
    exec(compile(noted.tree, "m.py", "exec", dont_inherit=True), names)
    for call in calls:
        exec(call, names)
    reached = getattr(sys, NOTES)
    assert len(reached) == len(noted.lines) + len(noted.branches)
    lines = {line for number, line in noted.lines.items() if not reached[number]}
    return lines, {name for number, name in noted.branches.items() if not reached[number]}, names


CODE = read_program(__file__, "CODE")


def test_functions_that_are_never_called_are_missed() -> None:
    assert run("def f(): ...\ndef g():\n    'does nothing'\n    ...\n")[0] == set()
    lines, branches, names = run(CODE)
    assert lines == {13, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31}
    assert branches == {
        *("19->20", "19->21", "21->22", "21->23", "23->24", "23->26"),
        *("24->25", "24->23", "26->27", "26->28"),
    }
    assert names["__doc__"] == "Doc."


def test_each_call_reaches_its_lines() -> None:
    assert run(CODE, "A(1)", "f(9)")[:2] == (
        {21, 22, 27, 31},
        {"19->21", "21->22", "21->23", "23->26", "26->27"},
    )
    assert run(CODE, "A(1)", "f(9)", "f(2)", "f(0)", "f(-1)")[:2] == (set(), set())


def test_branches_of_match() -> None:
    code = "def f(x):\n    match x:\n        case 1:\n            return 'a'\n        case [y]:\n            return y\n"
    assert run(code, "f(1)")[:2] == ({6}, {"5->6", "5->exit"})
    assert run(code, "f(1)", "f([2])", "f(3)")[:2] == (set(), set())


def test_what_is_for_type_checkers_subclasses_and_a_main_program_is_left_out() -> None:
    code = read_program(__file__, "NOT_FOR_TESTS")
    assert run(code, "f()")[:2] == (set(), set())
    tree = ast.parse(code)
    edited = walk_editable_nodes(tree, Source(code))
    assert not any(isinstance(item.node, ast.Raise) for item in edited)


def test_the_behaviour_is_unchanged() -> None:
    code = (
        "import enum, dataclasses\n"
        "class E(enum.Enum):\n    A = 1\n    B = 2\n"
        "@dataclasses.dataclass\nclass D:\n    x: int\n    y: int = 2\n"
        "def gen(n):\n    for i in range(n):\n        yield i\n    else:\n        yield 'end'\n"
        "async def co():\n    async with 1: pass\n"
        "class P:\n    def __private(self): return 1\n    def g(self): return self.__private()\n"
    )
    _, _, names = run(code)
    assert [item.name for item in names["E"]] == ["A", "B"]
    assert names["D"](1) == names["D"](1, 2)
    assert list(names["gen"](2)) == [0, 1, "end"]
    assert names["P"]().g() == 1


def test_hits_survive_a_reload() -> None:
    noted = instrument("def f(): return 1\n")
    for _ in range(2):
        names: dict[str, Any] = {"__name__": "m"}
        exec(compile(noted.tree, "m.py", "exec"), names)
        first = names["f"]
        first()
    assert sum(getattr(sys, NOTES)) == 1
