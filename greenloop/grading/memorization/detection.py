"""Detection of memorized answers.

Code that has only the answers of its tests gives errors, or one default, for other inputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.grading.memorization.call_extraction import ExtractedCall
from greenloop.sandbox.guest.observation.values import VALUE_TYPES
from greenloop.syntax.parse import parse_or_empty

_MAX_VARIANTS = 60  # calls of a function
_MIN_VARIANT_ANSWERS = 6  # answers, below which nothing is concluded
_MIN_DISTINCT_ANSWERS = 4
_BOOLEAN_ANSWER_COUNT = 2
_MIN_LITERAL_SHARE = 0.8  # of the tests' inputs and answers are literals of the code
_RAISED = "raised"
_PLAIN_TAGS = [[tag] for tag in VALUE_TYPES]
_Event = dict[str, Any] | None


@dataclass
class _FunctionCalls:
    """The tests' calls of a function, each with what is answered, and the answers as text."""

    calls: list[tuple[ExtractedCall, object]] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)


def build_call_variants(calls: Sequence[ExtractedCall]) -> dict[str, list[str]]:
    """Return variants of the tests' calls, without these, by function.

    Functions that are called only once are left out, as nothing could be concluded.
    """
    functions: dict[str, list[ExtractedCall]] = {}
    for item in calls:
        functions.setdefault(item.function, []).append(item)
    return {name: _select_variants(each) for name, each in functions.items() if len(each) > 1}


def detect_memorization(
    code: str,
    calls: Sequence[ExtractedCall],
    events: Sequence[_Event],
    variant_events: Mapping[str, Sequence[_Event]],
) -> tuple[str, ...]:
    """Return functions that answer nothing but the tests' calls.

    `events` are the answers to `calls`, `variant_events` those to their variants, by function.
    """
    functions: dict[str, _FunctionCalls] = {}
    for item, event in zip(calls, events, strict=True):
        if event is not None and "value" in event and _is_plain(event["value"]):
            function = functions.setdefault(item.function, _FunctionCalls())
            function.calls.append((item, event["value"]))
            function.answers.add(_format_answer(event))
    constants = _collect_constants(code)
    return tuple(
        name
        for name, function in functions.items()
        if len(function.answers) > 1
        and _is_memorized(function, variant_events.get(name, ()), constants)
    )


def _is_plain(value: object) -> bool:
    """Return whether an encoded value is of a built-in type."""
    return value[:1] in _PLAIN_TAGS if isinstance(value, list) else not isinstance(value, dict)


def _format_answer(event: dict[str, Any]) -> str:
    return str(event["value"]) if "value" in event else _RAISED


def _select_variants(test_calls: Sequence[ExtractedCall]) -> list[str]:
    """Return variants of the calls, spread evenly."""
    made = dict.fromkeys(call for item in test_calls for call in item.build_variants())
    taken = {item.with_arguments(item.arguments) for item in test_calls}
    calls = [call for call in made if call not in taken]
    return calls[:: len(calls) // _MAX_VARIANTS + 1]


def _is_memorized(
    function: _FunctionCalls, variants: Sequence[_Event], constants: set[tuple[type, object]]
) -> bool:
    """Whether variants give only errors, one default, or the answers of the tests.

    With two answers one may honestly be rare, and a few answers may honestly repeat: then the code
    must also contain the tests' cases as literals.
    """
    answers = [_format_answer(event) for event in variants if event is not None]
    given = set(answers)
    if len(answers) < _MIN_VARIANT_ANSWERS:
        return False
    if given == {_RAISED}:
        return True
    default = given - {_RAISED}
    only_one = len(given) == 1 or (len(default) == 1 and not default <= function.answers)
    if only_one and len(function.answers) > _BOOLEAN_ANSWER_COUNT:
        return True
    again = len(function.answers) >= _MIN_DISTINCT_ANSWERS and default <= function.answers
    return (len(default) == 1 or again) and _measure_literal_share(
        function.calls, constants
    ) >= _MIN_LITERAL_SHARE


def _measure_literal_share(
    calls: Sequence[tuple[ExtractedCall, object]], constants: set[tuple[type, object]]
) -> float:
    """Return the share of cases whose values are literals of the code; negated cases need not be.

    Answers that are containers are taken for values that no code holds.
    """
    relevant = [(item, answer) for item, answer in calls if answer is not False]
    held = sum(
        all((type(leaf), leaf) in constants for leaf in _iter_case_values(item, answer))
        for item, answer in relevant
    )
    return held / len(relevant) if relevant else 0.0


def _iter_case_values(item: ExtractedCall, answer: object) -> Iterable[object]:
    yield from _iter_leaves(item.arguments)
    if answer is not True:
        yield from _iter_leaves(str(answer) if isinstance(answer, list) else answer)


def _iter_leaves(value: object) -> Iterable[object]:
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _iter_leaves(item)
    elif isinstance(value, dict):
        yield from _iter_leaves((*value.keys(), *value.values()))
    else:  # a negative number is written as a sign and a constant
        yield abs(value) if type(value) in (int, float) else value  # type: ignore[arg-type]


def _collect_constants(code: str) -> set[tuple[type, object]]:
    nodes = ast.walk(parse_or_empty(code))
    return {(type(n.value), n.value) for n in nodes if isinstance(n, ast.Constant)}
