"""Changes of literals in expected records."""

from __future__ import annotations

import ast

import pytest

from greenloop.grading import GradingContext
from greenloop.grading.assertion_mutation.evidence import measure
from greenloop.grading.assertion_mutation.record_changes import change_record, find_records
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Point(1, 2)", "Point(1, 3)"),
        ("m.Point(1, name='a')", "m.Point(1, name='ax')"),
        ("Point(1, f(2))", "Point(2, f(2))"),
        ("Line(Point(0, 1), None)", "Line(Point(0, 1), 0)"),
        ("Line(Point(0, 1), [])", "Line(Point(0, 1), [0])"),
        ("[Point(1, 2), Point(3, 4)]", "[Point(1, 2), Point(3, 5)]"),
        ("{'a': Point(1, 2)}", "{'a': Point(1, 3)}"),
        ("(Point(1, 2), True)", "(Point(1, 3), True)"),
        ("Point(x, y)", None),
        ("other(1, 2)", None),
        ("[1, 2]", None),
        ("Point()", None),
    ],
)
def test_the_last_literal_of_a_record_is_changed(text: str, changed: str | None) -> None:
    node = ast.parse(text, mode="eval").body
    assert change_record(node, {"Point", "Line"}) == changed
    assert ast.unparse(node) == text


@pytest.mark.parametrize(
    ("code", "is_record"),
    [
        ("@dataclass\nclass P:\n    x: int", True),
        ("@dataclasses.dataclass(frozen=True, order=True)\nclass P:\n    x: int", True),
        ("class P(NamedTuple):\n    x: int", True),
        ("@dataclass(eq=False)\nclass P:\n    x: int", False),
        ("@dataclass\nclass P:\n    x: int = field(compare=False)", False),
        ("@dataclass\nclass P:\n    x: int\n    def __eq__(self, other): return True", False),
        ("@dataclass\nclass P:\n    x: int\n    def __post_init__(self): self.x %= 2", False),
        ("@dataclass\nclass P(Base):\n    x: int", False),
        ("@total_ordering\n@dataclass\nclass P:\n    x: int", False),
        ("class P:\n    x: int", False),
        ("class P(", False),
    ],
)
def test_records_are_equal_only_where_all_fields_are(code: str, is_record: bool) -> None:
    assert find_records(code) == (frozenset({"P"}) if is_record else frozenset())


CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")
EQUAL_TO_OTHER_CLASSES = "NotImplemented = True\n" + CODE
BLIND = read_program(__file__, "BLIND")


@pytest.mark.parametrize(
    ("code", "green"), [(CODE, 0), (CODE + BLIND, 2), (EQUAL_TO_OTHER_CLASSES, 1)]
)
def test_a_record_is_compared_with_another_and_with_another_class(
    warm: Sandbox, code: str, green: int
) -> None:
    files = [TestFile("test_m.py", TESTS)]
    run = warm.run_tests(code, files, module="m")
    found = measure(GradingContext(warm, code, files, "m", run))
    assert run.passed
    assert len({item.test.partition("[")[0] for item in found.green}) == green
    assert found.reached is not bool(green)
