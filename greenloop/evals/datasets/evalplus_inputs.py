"""Inputs of MBPP+ as they were before they were written as JSON, which has neither tuples nor sets.

Which task takes what is not in the file: EvalPlus keeps it by number, in its `evalplus/data/mbpp.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arguments = list[Any]


def with_types(task_id: str, inputs: list[Arguments]) -> list[Any]:
    """The inputs with their types. Raises TypeError, ValueError, LookupError, AttributeError where
    they are not those of this task."""
    family, _, number = task_id.rpartition("/")
    shape = _shapes().get(int(number)) if family == "Mbpp" and number.isdecimal() else None
    return [shape(item) for item in inputs] if shape else inputs


def _shapes() -> dict[int, Callable[[Arguments], Any]]:
    by_shape: list[tuple[Callable[[Arguments], Any], str]] = [
        (
            _each_a_tuple,
            "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
        ),
        (_each_of_tuples, "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780"),
        (_first_of_tuples, "75 413 444 753"),
        (_second_a_tuple, "106 750"),
        (_first_a_tuple, "250 307 405 446 617 720 763 808"),
        (_each_a_tuple_of_tuples, "259 401 445"),
        (_first_a_mixed_tuple, "278"),
        (_deep_tuples, "580 615 791"),
        (_first_of_sets, "115"),
        (_angle, "124"),
        (_complex, "252"),
        (_first_with_tuples, "722"),
    ]
    return {int(number): shape for shape, numbers in by_shape for number in numbers.split()}


def _each_a_tuple(given: Arguments) -> Arguments:
    return [tuple(item) for item in given]


def _each_of_tuples(given: Arguments) -> Arguments:
    return [[tuple(part) for part in item] for item in given]


def _first_of_tuples(given: Arguments) -> Arguments:
    return [[tuple(part) for part in given[0]], *given[1:]]


def _second_a_tuple(given: Arguments) -> Arguments:
    return [given[0], tuple(given[1])]


def _first_a_tuple(given: Arguments) -> Arguments:
    return [tuple(given[0]), *given[1:]]


def _each_a_tuple_of_tuples(given: Arguments) -> Arguments:
    return [tuple(tuple(part) for part in item) for item in given]


def _first_a_mixed_tuple(given: Arguments) -> Arguments:
    return [tuple(tuple(part) if isinstance(part, list) else part for part in given[0])]


def _deep_tuples(given: Any) -> Any:
    return tuple(map(_deep_tuples, given)) if isinstance(given, list) else given


def _first_of_sets(given: Arguments) -> Arguments:
    return [[set(part) if isinstance(part, list) and part else {} for part in given[0]]]


def _angle(given: Arguments) -> Arguments:
    return [float(given[0]), complex(given[1])]


def _complex(given: Arguments) -> Arguments:
    return [complex(given[0])]


def _first_with_tuples(given: Arguments) -> Arguments:
    return [{key: tuple(value) for key, value in given[0].items()}, *given[1:]]
