"""Comparison of plausible patches by their results on calls that no test makes.

Patches with the same results support each other: those on which most of the likelihood agrees come
first. That is no proof; it only orders the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.repair.patch_inputs import generate_probes
from greenloop.repair.ranking import RankedEdit
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.calls import CallResults
from greenloop.testsuite import TestFile

_TIMEOUT_SECONDS, _MAX_DISAGREEMENTS, _MAX_ANSWER_CHARS = 1.5, 5, 60
_LIKELIHOOD_DECAY = 2.5  # a patch whose score is 1 higher is e**2.5 times less likely
_AGREEMENT_WEIGHT, _BREAKDOWN_WEIGHT = 0.35, 0.6
_BREAKDOWN_EXCEPTIONS = (
    "NameError",
    "UnboundLocalError",
    "TypeError",
    "AttributeError",
    "RecursionError",
)
Disagreements = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class PatchComparison:
    """The patches in their new order, the share that agrees with each, and where they differ."""

    order: tuple[RankedEdit, ...]
    agreement: tuple[float, ...]
    disagreements: Disagreements


def compare_patches(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    candidates: Sequence[RankedEdit],
    *,
    seed: int,
    remaining_s: Callable[[], float],
) -> PatchComparison | None:
    """Order patches by agreement; None if there are no two patches, no calls, or no time."""
    calls = generate_probes(code, tests, seed).calls
    if len(candidates) < 2 or not calls:
        return None
    answers: list[tuple[str, ...]] = []
    for item in candidates:
        seconds = min(_TIMEOUT_SECONDS, remaining_s())
        if seconds <= 0:
            return None
        shown = [f"repr({call})" for call in calls]
        said = sandbox.evaluate_calls(item.edit.apply_to(code), module, shown, timeout_s=seconds)
        answers.append(_format_answers(said))
    weights = [
        math.exp(-_LIKELIHOOD_DECAY * (item.score - candidates[0].score)) for item in candidates
    ]
    shares = [_agreement_share(one, answers, weights) for one in answers]
    broken = [_breakdown_share(one, answers) for one in answers]

    def key(n: int) -> tuple[float, int]:
        return (
            candidates[n].score - _AGREEMENT_WEIGHT * shares[n] + _BREAKDOWN_WEIGHT * broken[n],
            candidates[n].rank,
        )

    order = sorted(range(len(candidates)), key=key)
    return PatchComparison(
        tuple(candidates[n] for n in order),
        tuple(round(shares[n], 3) for n in order),
        _find_disagreements(calls, [answers[n] for n in order]),
    )


def _format_answers(answers: CallResults) -> tuple[str, ...]:
    """Return each answer as a text that can be compared."""
    return tuple(map(_format_answer, answers.events))


def _format_answer(event: dict[str, Any] | None) -> str:
    if event is None:
        return "no answer"
    if "value" not in event:
        return f"raises {event['error'][1][0][1]}"
    text = str(event["value"])
    return "an object" if " object at 0x" in text else text


def _agreement_share(
    one: tuple[str, ...], answers: Sequence[tuple[str, ...]], weights: Sequence[float]
) -> float:
    """Return the share, by likelihood, of the patches with the same answers to all calls."""
    agreeing = sum(weight for other, weight in zip(answers, weights, strict=True) if other == one)
    return agreeing / sum(weights)


def _breakdown_share(one: tuple[str, ...], answers: Sequence[tuple[str, ...]]) -> float:
    """Return the share of calls on which this patch breaks down and not all patches do."""
    count = 0
    for number, text in enumerate(one):
        if _is_breakdown(text):
            count += not all(_is_breakdown(other[number]) for other in answers)
    return count / max(1, len(one))


def _is_breakdown(text: str) -> bool:
    return text == "no answer" or text.removeprefix("raises ") in _BREAKDOWN_EXCEPTIONS


def _find_disagreements(calls: Sequence[str], answers: Sequence[tuple[str, ...]]) -> Disagreements:
    found = []
    for number, call in enumerate(calls):
        said = tuple(one[number][:_MAX_ANSWER_CHARS] for one in answers)
        if len(set(said)) > 1:
            found.append((call, said))
    return tuple(found[:_MAX_DISAGREEMENTS])
