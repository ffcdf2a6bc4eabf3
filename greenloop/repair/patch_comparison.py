"""Several plausible patches: which do the same, and which stands out, on calls no test makes.

Patches that people would write differently and that do the same support each other: what most of
the likelihood agrees on comes first. That is no proof either; it only orders the list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.grading.held_out_examples import untagged
from greenloop.repair.patch_inputs import probes
from greenloop.repair.ranking import Ranked
from greenloop.sandbox import Sandbox
from greenloop.sandbox.api import Answers
from greenloop.testsuite import TestFile

_TIMEOUT_S, _MOST_SHOWN, _LONGEST = 1.5, 5, 60
_SHARPNESS = 2.5  # a patch that is one unit of cost farther is so many times (e to it) less likely
_SUPPORT, _BROKEN = 0.35, 0.6
_BREAKDOWNS = ("NameError", "UnboundLocalError", "TypeError", "AttributeError", "RecursionError")
Disagreements = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Apart:
    """The patches in their new order, the share that agrees with each, and where they differ."""

    order: tuple[Ranked, ...]
    agreeing: tuple[float, ...]
    disagreements: Disagreements


def told_apart(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    found: Sequence[Ranked],
    *,
    seed: int,
    left_s: Callable[[], float],
) -> Apart | None:
    """None where there is nothing to tell apart, or no time to."""
    calls = probes(code, tests, seed).calls
    if len(found) < 2 or not calls:
        return None
    answers: list[tuple[str, ...]] = []
    for item in found:
        seconds = min(_TIMEOUT_S, left_s())
        if seconds <= 0:
            return None
        said = box.answer_calls(item.edit.applied_to(code), module, calls, timeout_s=seconds)
        answers.append(_texts(said))
    weights = [math.exp(-_SHARPNESS * (item.score - found[0].score)) for item in found]
    shares = [_support(one, answers, weights) for one in answers]
    broken = [_breakdowns(one, answers) for one in answers]

    def key(n: int) -> tuple[float, int]:
        return found[n].score - _SUPPORT * shares[n] + _BROKEN * broken[n], found[n].number

    order = sorted(range(len(found)), key=key)
    return Apart(
        tuple(found[n] for n in order),
        tuple(round(shares[n], 3) for n in order),
        _disagreements(calls, [answers[n] for n in order]),
    )


def _texts(answers: Answers) -> tuple[str, ...]:
    """Each answer as text that can be compared."""
    found = []
    for event in answers.events:
        if event is None:
            found.append("no answer")
        elif "raised" in event:
            found.append(f"raises {event['raised'][0] if event['raised'] else ''}")
        else:
            found.append(_shown(event.get("value")))
    return tuple(found)


def _shown(value: Any) -> str:
    """A tagged value as Python would show it, or as it came."""
    try:
        return _sorted(untagged(value))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError):
        return json.dumps(value)


def _sorted(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    text = repr(value)
    return "an object" if " object at 0x" in text else text


def _support(
    one: tuple[str, ...], answers: Sequence[tuple[str, ...]], weights: Sequence[float]
) -> float:
    """The share, by likelihood, of the patches that answer everything as this one does."""
    agreeing = sum(weight for other, weight in zip(answers, weights, strict=True) if other == one)
    return agreeing / sum(weights)


def _breakdowns(one: tuple[str, ...], answers: Sequence[tuple[str, ...]]) -> float:
    """The share of calls on which this one alone among all breaks down."""
    count = 0
    for number, text in enumerate(one):
        if _is_breakdown(text):
            count += not all(_is_breakdown(other[number]) for other in answers)
    return count / max(1, len(one))


def _is_breakdown(text: str) -> bool:
    return text == "no answer" or text.removeprefix("raises ") in _BREAKDOWNS


def _disagreements(calls: Sequence[str], answers: Sequence[tuple[str, ...]]) -> Disagreements:
    found = []
    for number, call in enumerate(calls):
        said = tuple(one[number][:_LONGEST] for one in answers)
        if len(set(said)) > 1:
            found.append((call, said))
    return tuple(found[:_MOST_SHOWN])
