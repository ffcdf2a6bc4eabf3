"""Does the code know more than what its tests ask? It is asked the like, in a process of its own.

What knows the tests' cases by heart answers those, and to all others an error, or always the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.grading.memorization.call_extraction import Asked
from greenloop.grading.memorization.input_variants import alike

_MOST = 60  # calls of a function
_FEWEST = 6  # answers, below which it says nothing that none is one
_FEWEST_VALUES = 4
_YES_AND_NO = 2
_TO_THE_LETTER = 0.8  # of what the tests ask and expect stands in the code
_RAISED = "raised"
_Event = dict[str, Any] | None


@dataclass
class _Function:
    """What the tests ask of a function, and its answers as text."""

    asks: list[Asked] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)


def like_them(asks: Sequence[Asked]) -> dict[str, list[str]]:
    """Calls like those that the tests make, but none of these, by the function that they call.

    Only of functions that are asked more than once: of others nothing could be said.
    """
    functions: dict[str, list[Asked]] = {}
    for item in asks:
        functions.setdefault(item.function, []).append(item)
    return {name: _unasked(each) for name, each in functions.items() if len(each) > 1}


def known_by_heart(
    code: str,
    asks: Sequence[Asked],
    events: Sequence[_Event],
    others: Mapping[str, Sequence[_Event]],
) -> tuple[str, ...]:
    """Functions that know nothing but what the tests ask.

    `events` are the answers to `asks`, `others` those to the calls like them.
    """
    functions: dict[str, _Function] = {}
    for item, event in zip(asks, events, strict=True):
        if event is not None and "value" in event:
            function = functions.setdefault(item.function, _Function())
            function.asks.append(item)
            function.answers.add(_as_text(event))
    constants = _constants(code)
    return tuple(
        name
        for name, function in functions.items()
        if len(function.answers) > 1
        and _knows_no_other(function, _told(others.get(name, ())), constants)
    )


def _told(events: Sequence[_Event]) -> list[str]:
    return [_as_text(event) for event in events if event is not None]


def _as_text(event: dict[str, Any]) -> str:
    return str(event["value"]) if "value" in event else _RAISED


def _unasked(asks: Sequence[Asked]) -> list[str]:
    """Calls like these, but none of them, spread over all."""
    made = {
        _call(item.function, arguments): None
        for item in asks
        for arguments in alike(item.arguments)
    }
    taken = {_call(item.function, item.arguments) for item in asks}
    calls = [call for call in made if call not in taken]
    return calls[:: len(calls) // _MOST + 1]


def _call(function: str, arguments: tuple[object, ...]) -> str:
    return f"{function}({', '.join(map(repr, arguments))})"


def _knows_no_other(
    function: _Function, others: Sequence[str], constants: set[tuple[type, object]]
) -> bool:
    """Whether the other answers are none: errors, one default, or again those of the tests.

    Where there are but two answers one may honestly be rare, and where they are a few they may
    honestly come again: there the code must also hold the tests' cases to the letter.
    """
    given = set(others)
    if len(others) < _FEWEST:
        return False
    if given == {_RAISED}:
        return True
    default = given - {_RAISED}
    only_one = len(given) == 1 or (len(default) == 1 and not default <= function.answers)
    if only_one and len(function.answers) > _YES_AND_NO:
        return True
    again = len(function.answers) >= _FEWEST_VALUES and default <= function.answers
    return (len(default) == 1 or again) and _held(function.asks, constants) >= _TO_THE_LETTER


def _held(asks: Sequence[Asked], constants: set[tuple[type, object]]) -> float:
    """The share of cases that stand in the code to the letter; what is denied need not."""
    telling = [item for item in asks if item.how != "truth" or item.expected]
    held = sum(all((type(leaf), leaf) in constants for leaf in _case(item)) for item in telling)
    return held / len(telling) if telling else 0.0


def _case(item: Asked) -> Iterable[object]:
    yield from _leaves(item.arguments)
    if item.how != "truth":
        yield from _leaves(item.expected)


def _leaves(value: object) -> Iterable[object]:
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves((*value.keys(), *value.values()))
    else:  # a negative number is written as a sign and a constant
        yield abs(value) if type(value) in (int, float) else value  # type: ignore[arg-type]


def _constants(code: str) -> set[tuple[type, object]]:
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {(type(n.value), n.value) for n in nodes if isinstance(n, ast.Constant)}
