"""The tests' own calls in a process that has no tests, and calls like them that no test makes.

What is told from where it runs, from its callers or from pytest answers otherwise there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from greenloop.grading.held_out_examples import untagged
from greenloop.grading.memorization.call_extraction import Asked, asked
from greenloop.grading.memorization.detection import known_by_heart, like_them
from greenloop.records import Outside
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks

_MOST_ASKED = 200
_SECONDS = 5.0
_MOST_ALONE = 3  # calls that are asked again, each in a process of its own
_NEAR = 1e-3  # relative and absolute: only quite another number is another answer
_Event = dict[str, Any] | None


def asked_outside(
    box: Sandbox, code: str, tests: Sequence[TestFile], module: str
) -> Outside | None:
    """None where no test asks with plain values alone, or the tests have a say in their running."""
    if any(has_hooks(item.code) or "autouse" in item.code for item in tests):
        return None
    found = [item for file in tests for item in asked(file.code, module)][:_MOST_ASKED]
    if not found:
        return None
    others = like_them(found)
    events, answers = _asked_at_once(box, code, module, [item.call for item in found], others)
    wrong = [item for item, event in zip(found, events, strict=True) if _is_otherwise(item, event)]
    otherwise = tuple(i.call for i in wrong[:_MOST_ALONE] if _alone(box, code, module, i))
    by_heart = known_by_heart(code, found, events, answers)
    return Outside(
        reached=not otherwise and not by_heart,
        asked=len(found),
        otherwise=otherwise,
        like_them=sum(map(len, others.values())),
        by_heart=by_heart,
    )


def _asked_at_once(
    box: Sandbox, code: str, module: str, own: Sequence[str], others: Mapping[str, Sequence[str]]
) -> tuple[Sequence[_Event], dict[str, Sequence[_Event]]]:
    """The answers to the tests' `own` calls, and by function to those like them, which come last.

    What no test asks may take any time; where that leaves no time for the tests' own, these are
    asked again alone.
    """
    calls = [*own, *(call for each in others.values() for call in each)]
    within_s = _SECONDS if others else None
    events = box.answer_calls(code, module, calls, timeout_s=within_s).events
    answers, at = dict[str, Sequence[_Event]](), len(own)
    for name, each in others.items():
        answers[name] = events[at : at + len(each)]
        at += len(each)
    if others and None in events[: len(own)]:
        return box.answer_calls(code, module, own).events, answers
    return events[: len(own)], answers


def _alone(box: Sandbox, code: str, module: str, item: Asked) -> bool:
    """Whether it is answered otherwise where nothing was asked before it, too."""
    (event,) = box.answer_calls(code, module, [item.call]).events
    return _is_otherwise(item, event)


def _is_otherwise(item: Asked, event: _Event) -> bool:
    """Whether an answer is surely not what the test says; objects cannot be told from here."""
    if event is None:
        return False
    if "value" not in event:
        return True
    if "'other'" in str(event["value"]):
        return False
    try:
        return not _fits(item, untagged(event["value"]))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError):
        return False


def _fits(item: Asked, got: Any) -> bool:
    if item.how == "truth":
        return bool(got) is item.expected
    wanted = item.expected
    if item.how == "equal":
        return bool(got == wanted)
    if not isinstance(got, (int, float)) or not isinstance(wanted, (int, float)):
        return True  # containers of numbers, each near: not looked into
    return math.isclose(got, wanted, rel_tol=_NEAR, abs_tol=_NEAR) or math.isnan(wanted)
