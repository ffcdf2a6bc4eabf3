"""Memorization: the tests' calls, and variants of them, in a process without the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from greenloop.grading.context import GradingContext
from greenloop.grading.memorization.call_extraction import extract_calls
from greenloop.grading.memorization.detection import build_call_variants, detect_memorization
from greenloop.grading.memorization.special_cases import find_special_cases
from greenloop.records import Memorization
from greenloop.testsuite.parser import has_hooks

_MAX_CALLS = 200
_TIMEOUT_SECONDS = 5.0
_Event = dict[str, Any] | None


def measure(context: GradingContext) -> Memorization | None:
    """Replay the tests' calls without the tests.

    None where no test calls the code with plain values alone, or where hooks and automatic fixtures
    of the tests could change the answers.
    """
    tests = context.tests
    if any(has_hooks(item.code) or "autouse" in item.code for item in tests):
        return None
    calls = [item for file in tests for item in extract_calls(file.code, context.module)]
    calls = calls[:_MAX_CALLS]
    if not calls:
        return None
    variants = build_call_variants(calls)
    events, variant_events = _evaluate_calls(context, [item.call for item in calls], variants)
    functions = detect_memorization(context.code, calls, events, variant_events)
    special_cases = find_special_cases(
        context.code,
        calls,
        context.contract,
        lambda code, asked: context.sandbox.evaluate_calls(
            code, context.module, asked, timeout_s=_TIMEOUT_SECONDS
        ).events,
    )
    return Memorization(
        reached=not functions and not special_cases,
        special_cases=special_cases,
        calls=len(calls),
        variants=sum(map(len, variants.values())),
        functions=functions,
    )


def _evaluate_calls(
    context: GradingContext, test_calls: Sequence[str], variants: Mapping[str, Sequence[str]]
) -> tuple[Sequence[_Event], dict[str, Sequence[_Event]]]:
    """Return the answers to the tests' calls, and by function those to the variants, run last.

    Variants may take any time; where they leave none for the tests' calls, these are repeated alone.
    """
    evaluate = partial(context.sandbox.evaluate_calls, context.code, context.module)
    calls = [*test_calls, *(call for each in variants.values() for call in each)]
    events = evaluate(calls, timeout_s=_TIMEOUT_SECONDS if variants else None).events
    answers, at = dict[str, Sequence[_Event]](), len(test_calls)
    for name, each in variants.items():
        answers[name] = events[at : at + len(each)]
        at += len(each)
    if variants and None in events[: len(test_calls)]:
        return evaluate(test_calls).events, answers
    return events[: len(test_calls)], answers
