"""The tests' own calls in a process that has no tests, and calls like them that no test makes.

What is told from where it runs, from its callers or from pytest answers otherwise there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from greenloop.grading.held_out_examples import decode_value
from greenloop.grading.memorization.call_extraction import ExtractedCall, extract_calls
from greenloop.grading.memorization.detection import build_call_variants, detect_memorization
from greenloop.records import Memorization
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.parser import has_hooks

_MAX_CALLS = 200
_TIMEOUT_SECONDS = 5.0
_MAX_RECHECKED_CALLS = 3  # calls that are asked again, each in a process of its own
_TOLERANCE = 1e-3  # relative and absolute: only quite another number is another answer
_Event = dict[str, Any] | None


def replay_calls_without_tests(
    sandbox: Sandbox, code: str, tests: Sequence[TestFile], module: str
) -> Memorization | None:
    """None where no test asks with plain values alone, or the tests have a say in their running."""
    if any(has_hooks(item.code) or "autouse" in item.code for item in tests):
        return None
    found = [item for file in tests for item in extract_calls(file.code, module)][:_MAX_CALLS]
    if not found:
        return None
    others = build_call_variants(found)
    events, answers = _evaluate_calls(sandbox, code, module, [item.call for item in found], others)
    wrong = [item for item, event in zip(found, events, strict=True) if _is_different(item, event)]
    differing = tuple(
        i.call
        for i in wrong[:_MAX_RECHECKED_CALLS]
        if _differs_in_fresh_process(sandbox, code, module, i)
    )
    functions = detect_memorization(code, found, events, answers)
    return Memorization(
        reached=not differing and not functions,
        calls=len(found),
        differing=differing,
        variants=sum(map(len, others.values())),
        functions=functions,
    )


def _evaluate_calls(
    sandbox: Sandbox,
    code: str,
    module: str,
    test_calls: Sequence[str],
    variants: Mapping[str, Sequence[str]],
) -> tuple[Sequence[_Event], dict[str, Sequence[_Event]]]:
    """The answers to the tests' `own` calls, and by function to those like them, which come last.

    What no test asks may take any time; where that leaves no time for the tests' own, these are
    asked again alone.
    """
    calls = [*test_calls, *(call for each in variants.values() for call in each)]
    within_s = _TIMEOUT_SECONDS if variants else None
    events = sandbox.evaluate_calls(code, module, calls, timeout_s=within_s).events
    answers, at = dict[str, Sequence[_Event]](), len(test_calls)
    for name, each in variants.items():
        answers[name] = events[at : at + len(each)]
        at += len(each)
    if variants and None in events[: len(test_calls)]:
        return sandbox.evaluate_calls(code, module, test_calls).events, answers
    return events[: len(test_calls)], answers


def _differs_in_fresh_process(
    sandbox: Sandbox, code: str, module: str, call: ExtractedCall
) -> bool:
    """Whether it is answered otherwise where nothing was asked before it, too."""
    (event,) = sandbox.evaluate_calls(code, module, [call.call]).events
    return _is_different(call, event)


def _is_different(call: ExtractedCall, event: _Event) -> bool:
    """Whether an answer is surely not what the test says; objects cannot be told from here."""
    if event is None:
        return False
    if "value" not in event:
        return True
    if "'other'" in str(event["value"]):
        return False
    try:
        return not _is_expected(call, decode_value(event["value"]))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError):
        return False


def _is_expected(call: ExtractedCall, got: Any) -> bool:
    if call.comparison == "truth":
        return bool(got) is call.expected
    wanted = call.expected
    if call.comparison == "equal":
        return bool(got == wanted)
    if not isinstance(got, (int, float)) or not isinstance(wanted, (int, float)):
        return True  # containers of numbers, each near: not looked into
    return math.isclose(got, wanted, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) or math.isnan(wanted)
