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
    """Return the conversion of a task's argument list, by the task's number."""
    table: list[tuple[Callable[[Arguments], Any], str]] = [
        (
            lambda args: [tuple(item) for item in args],
            "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809",
        ),
        (
            lambda args: [list(map(tuple, item)) for item in args],
            "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780",
        ),
        (lambda args: [list(map(tuple, args[0])), *args[1:]], "75 413 444 753"),
        (lambda args: [args[0], tuple(args[1])], "106 750"),
        (lambda args: [tuple(args[0]), *args[1:]], "250 307 405 446 617 720 763 808"),
        (lambda args: [tuple(map(tuple, item)) for item in args], "259 401 445"),
        (lambda args: [tuple(tuple(i) if isinstance(i, list) else i for i in args[0])], "278"),
        (_to_nested_tuples, "580 615 791"),
        (lambda args: [[_set_or_dict(part) for part in args[0]]], "115"),
        (lambda args: [float(args[0]), complex(args[1])], "124"),
        (lambda args: [complex(args[0])], "252"),
        (lambda args: [{k: tuple(v) for k, v in args[0].items()}, *args[1:]], "722"),
    ]
    return {int(number): convert for convert, numbers in table for number in numbers.split()}


def _to_nested_tuples(value: Any) -> Any:
    return tuple(map(_to_nested_tuples, value)) if isinstance(value, list) else value


def _set_or_dict(value: Any) -> Any:
    """Return a set; JSON has an empty dict in place of an empty list or a value."""
    return set(value) if isinstance(value, list) and value else {}
