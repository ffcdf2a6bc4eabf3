"""Counted iterations of `while` loops."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.loop_counter import LoopCounter, LoopLimitExceeded, LoopMarks

CODE = """\
# ä
class Reader:
    def read(self, text):
        while text and not (
            text[0] == "ü"
        ):
            text = text[1:]
        return text


def count(limit):
    number = 0
    while number < limit: number += 1
    while last := number:
        return last
"""


@pytest.fixture
def counter() -> Any:
    found = LoopCounter()
    found.install()
    yield found
    del builtins.__count_iteration__  # type: ignore[attr-defined]


def load(splice: dict[str, Any] | None = None) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    marked = LoopMarks(CODE).render(0, len(CODE), splice)
    assert marked.count("\n") == CODE.count("\n")
    exec(marked, namespace)
    return namespace


def replace(old: str, new: str) -> dict[str, Any]:
    assert CODE.count(old) == 1
    return {"start": CODE.index(old), "end": CODE.index(old) + len(old), "text": new}


def test_marked_code_does_the_same_and_is_counted(counter: LoopCounter) -> None:
    loaded = load()
    assert loaded["Reader"]().read("abü!") == "ü!"
    assert counter.count == 3
    counter.reset(None)
    assert loaded["count"](5) == 5
    assert counter.count == 7


@pytest.mark.parametrize(
    ("old", "new"), [("number += 1", "number -= 1"), ("number < limit", "limit > -number")]
)
def test_loop_that_never_ends_exceeds_the_limit(counter: LoopCounter, old: str, new: str) -> None:
    counter.reset(100)
    with pytest.raises(LoopLimitExceeded):
        load(replace(old, new))["count"](3)
    assert counter.is_exceeded


@pytest.mark.parametrize(
    ("old", "new"), [("while number < limit:", "while False:"), ("limit: number", "0: number")]
)
def test_replaced_conditions_are_not_marked(counter: LoopCounter, old: str, new: str) -> None:
    assert load(replace(old, new))["count"](5) is None
    assert counter.count == 1


def test_insertions_at_both_ends_of_a_condition_stay_inside(counter: LoopCounter) -> None:
    start = CODE.index("number < limit")
    end = start + len("number < limit")
    assert load({"start": start, "end": start, "text": "1 + "})["count"](5) == 4
    assert load({"start": end, "end": end, "text": " - 2"})["count"](5) == 3


def test_only_the_part_is_rendered() -> None:
    start, end = CODE.index("def count"), CODE.index("    while last")
    part = LoopMarks(CODE).render(start, end)
    assert part.startswith("def count")
    assert part.count("__count_iteration__") == 1


def test_loops_of_the_import_are_not_marked() -> None:
    text = "n = 0\nwhile n < 3:\n    n += 1\n"
    assert LoopMarks(text).render(0, len(text)) == text
