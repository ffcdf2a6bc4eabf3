"""Types of MBPP+ inputs that JSON cannot represent, such as tuples and sets.

The types are not in the data; EvalPlus has them by task number in its `evalplus/data/mbpp.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arguments = list[Any]


def restore_types(task_id: str, inputs: list[Arguments]) -> list[Any]:
    """Return the inputs with their types.

    Raises:
        TypeError, ValueError, LookupError, AttributeError: they are not those of this task.
    """
    family, _, number = task_id.rpartition("/")
    if family != "Mbpp" or not number.isdecimal():
        return inputs
    convert = _converters_by_task().get(int(number))
    return [convert(item) for item in inputs] if convert else inputs


def _converters_by_task() -> dict[int, Callable[[Arguments], Any]]:
    table: list[tuple[Callable[[Arguments], Any], str]] = [
        (
            _each_to_tuple,
            "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
        ),
        (_each_to_list_of_tuples, "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780"),
        (_first_to_list_of_tuples, "75 413 444 753"),
        (_second_to_tuple, "106 750"),
        (_first_to_tuple, "250 307 405 446 617 720 763 808"),
        (_each_to_tuple_of_tuples, "259 401 445"),
        (_first_to_mixed_tuple, "278"),
        (_to_nested_tuples, "580 615 791"),
        (_first_to_list_of_sets, "115"),
        (_to_float_and_complex, "124"),
        (_to_complex, "252"),
        (_dict_values_to_tuples, "722"),
    ]
    return {int(number): convert for convert, numbers in table for number in numbers.split()}


def _each_to_tuple(arguments: Arguments) -> Arguments:
    return [tuple(item) for item in arguments]


def _each_to_list_of_tuples(arguments: Arguments) -> Arguments:
    return [[tuple(part) for part in item] for item in arguments]


def _first_to_list_of_tuples(arguments: Arguments) -> Arguments:
    return [[tuple(part) for part in arguments[0]], *arguments[1:]]


def _second_to_tuple(arguments: Arguments) -> Arguments:
    return [arguments[0], tuple(arguments[1])]


def _first_to_tuple(arguments: Arguments) -> Arguments:
    return [tuple(arguments[0]), *arguments[1:]]


def _each_to_tuple_of_tuples(arguments: Arguments) -> Arguments:
    return [tuple(tuple(part) for part in item) for item in arguments]


def _first_to_mixed_tuple(arguments: Arguments) -> Arguments:
    return [tuple(tuple(part) if isinstance(part, list) else part for part in arguments[0])]


def _to_nested_tuples(value: Any) -> Any:
    return tuple(map(_to_nested_tuples, value)) if isinstance(value, list) else value


def _first_to_list_of_sets(arguments: Arguments) -> Arguments:
    return [[set(part) if isinstance(part, list) and part else {} for part in arguments[0]]]


def _to_float_and_complex(arguments: Arguments) -> Arguments:
    return [float(arguments[0]), complex(arguments[1])]


def _to_complex(arguments: Arguments) -> Arguments:
    return [complex(arguments[0])]


def _dict_values_to_tuples(arguments: Arguments) -> Arguments:
    return [{key: tuple(value) for key, value in arguments[0].items()}, *arguments[1:]]
