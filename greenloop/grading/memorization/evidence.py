"""Memorization: the tests' calls, and variants of them, in a process without the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from greenloop.grading.context import GradingContext
from greenloop.grading.memorization.call_extraction import ExtractedCall, extract_calls
from greenloop.grading.memorization.detection import build_call_variants, detect_memorization
from greenloop.grading.memorization.special_cases import find_special_cases
from greenloop.records import Memorization
from greenloop.testsuite.parser import has_hooks

_MAX_CALLS = 200
_TIMEOUT_SECONDS = 5.0
_Event = dict[str, Any] | None
_Answers = tuple[Sequence[_Event], dict[str, Sequence[_Event]]]


@dataclass(frozen=True)
class _CallPlan:
    """The tests' calls, and variants of them by function."""

    calls: Sequence[ExtractedCall]
    variants: Mapping[str, Sequence[str]]

    @cached_property
    def texts(self) -> list[str]:
        """The calls as source: those of the tests, then the variants, which may take any time."""
        variants = (call for each in self.variants.values() for call in each)
        return [*(item.call for item in self.calls), *variants]

    def split(self, events: Sequence[_Event]) -> _Answers:
        """Return the answers to the tests' calls, and by function those to the variants."""
        answers, at = dict[str, Sequence[_Event]](), len(self.calls)
        for name, each in self.variants.items():
            answers[name] = events[at : at + len(each)]
            at += len(each)
        return events[: len(self.calls)], answers


def measure(context: GradingContext) -> Memorization | None:
    """Replay the tests' calls without the tests.

    None where no test calls the code with plain values alone, or where hooks and automatic fixtures
    of the tests could change the answers.
    """
    plan = _plan_calls(context)
    if plan is None:
        return None
    functions = _find_functions(context, plan)
    special_cases = find_special_cases(
        context.code,
        plan.calls,
        context.contract,
        lambda code, asked: context.sandbox.evaluate_calls(
            code, context.module, asked, timeout_s=_TIMEOUT_SECONDS
        ).events,
    )
    return Memorization(
        reached=not functions and not special_cases,
        special_cases=special_cases,
        calls=len(plan.calls),
        variants=sum(map(len, plan.variants.values())),
        functions=functions,
    )


def _plan_calls(context: GradingContext) -> _CallPlan | None:
    tests = context.tests
    if any(has_hooks(item.code) or "autouse" in item.code for item in tests):
        return None
    calls = [item for file in tests for item in extract_calls(file.code, context.module)]
    calls = calls[:_MAX_CALLS]
    return _CallPlan(calls, build_call_variants(calls)) if calls else None


def _find_functions(context: GradingContext, plan: _CallPlan) -> tuple[str, ...]:
    """Return memorized functions."""
    return detect_memorization(context.code, plan.calls, *_evaluate_calls(context, plan))


def _evaluate_calls(context: GradingContext, plan: _CallPlan) -> _Answers:
    """Return the answers; where the variants leave no time for the tests' calls, repeat these alone."""
    evaluate = partial(context.sandbox.evaluate_calls, context.code, context.module)
    events = evaluate(plan.texts, timeout_s=_TIMEOUT_SECONDS if plan.variants else None).events
    answers, variants = plan.split(events)
    if plan.variants and None in answers:
        answers = evaluate([item.call for item in plan.calls]).events
    return answers, variants
