"""Edited expected values: the text of a plan with edits is that of a new plan."""

from __future__ import annotations

import re

import pytest

from greenloop.syntax.edit import TextEdit
from greenloop.syntax.source import Source
from greenloop.testsuite.scenarios.build import build_scenarios

CODE = "def f(x, y=0):\n    return x\n\nclass P:\n    def __init__(self, a):\n        self.a = a\n"
HEAD = "import pytest\nfrom m import P, f\n\n"


def edit(tests: str, old: str, new: str) -> TextEdit:
    start = tests.rindex(old)
    return TextEdit(start, start + len(old), new)


def plan_edited(tests: str, *edits: TextEdit) -> tuple[str | None, str]:
    """Return the edited text and that of a new plan, both without line numbers."""
    source = Source(tests)
    plan = build_scenarios(tests, "m", CODE)
    again = build_scenarios(source.apply_edits(edits), "m", CODE)
    assert plan.scenarios
    assert plan.judge_text
    edited = plan.judge_text.render_edited(source, edits)
    return edited and without_lines(edited), without_lines(again.judge)


def without_lines(text: str) -> str:
    return re.sub(r"at__\(\d+\)", "at__()", text)


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("    assert f(1) == 2\n", "2", "3"),
        ("    assert f('é') == 'é'\n", "'é'", "'éx'"),
        (
            "    assert f(1) == [\n        1,\n        2,\n    ]\n",
            "[\n        1,\n        2,\n    ]",
            "[1]",
        ),
        ("    assert f(1) == pytest.approx(0.5)\n", "0.5", "7.5"),
        ("    with pytest.raises(ValueError):\n        f(1)\n", "ValueError", "BufferError"),
        ("    with pytest.raises(ValueError, match='a'):\n        f(1)\n", "'a'", "'b'"),
        ("    for x, want in [(1, 2), (3, 4)]:\n        assert f(x) == want\n", "4", "5"),
        ("    point = P(1)\n    assert point.a == 1\n", "1", "2"),
    ],
)
def test_expected_values_are_replaced(body: str, old: str, new: str) -> None:
    tests = f"{HEAD}def test_f():\n{body}"
    edited, again = plan_edited(tests, edit(tests, old, new))
    assert edited == again


def test_cells_of_a_table_are_replaced() -> None:
    tests = (
        f"{HEAD}@pytest.mark.parametrize(('x', 'want'), [(1, 10), (2, 20)])\n"
        "def test_f(x, want):\n    assert f(x) == want\n\n\ndef test_g():\n    assert f(7) == 8\n"
    )
    edits = [edit(tests, "10", "11"), edit(tests, "20", "21"), edit(tests, "8", "9")]
    edited, again = plan_edited(tests, *edits)
    assert edited == again
    assert "11" in again
    assert "21" in again


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("    assert f(1) == 2\n", "f(1) == 2", "not (f(1) == 2)"),  # another observation
        ("    assert f(3) == 2\n", "3", "4"),  # an input
        ("    assert f(1) == 2\n", "2", "x"),  # a name that the text may not have
        ("    assert f(f) == f(1)\n", "f(1)", "(f(1), 0)"),
    ],
)
def test_other_edits_need_a_new_plan(body: str, old: str, new: str) -> None:
    tests = f"{HEAD}def test_f():\n{body}"
    assert plan_edited(tests, edit(tests, old, new))[0] is None


def test_an_edit_leaves_the_plan_as_it_is() -> None:
    tests = f"{HEAD}def test_f():\n    assert f(1) == 2\n"
    plan = build_scenarios(tests, "m", CODE)
    assert plan.judge_text
    changed = plan.judge_text.render_edited(Source(tests), [edit(tests, "2", "3")])
    assert changed != plan.judge == plan.judge_text.render()
