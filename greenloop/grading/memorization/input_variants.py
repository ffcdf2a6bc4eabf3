"""Variants of arguments: small changes of the same type."""

from __future__ import annotations

from collections.abc import Iterator

_STEPS = (-1, 1, 2, -2, 3)  # small, as calls may take long for larger numbers
_MAX_VARIANTS_PER_ARGUMENT = 8


def generate_input_variants(arguments: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    """Yield the arguments with one of them changed."""
    for at, value in enumerate(arguments):
        for number, other in enumerate(_vary_value(value)):
            if number < _MAX_VARIANTS_PER_ARGUMENT:
                yield (*arguments[:at], other, *arguments[at + 1 :])


def _vary_value(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + step for step in _STEPS)
    elif isinstance(value, str):
        yield from _vary_string(value)
    elif isinstance(value, (list, tuple)):
        yield from _vary_sequence(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in _vary_value(item))
        yield dict(list(value.items())[1:])


def _vary_string(value: str) -> Iterator[str]:
    digits = "".join(_increment_digit(letter) for letter in value)
    changed = [value[:-1], value[1:], digits, value.swapcase(), value[::-1], value + value[-1:]]
    for other in dict.fromkeys([*changed, f"{value} {value}"]):
        if other != value:
            yield other


def _increment_digit(letter: str) -> str:
    """Return the next digit, 0 after 9, and other characters unchanged."""
    return str((int(letter) + 1) % 10) if letter in "0123456789" else letter


def _vary_sequence(value: list[object] | tuple[object, ...]) -> Iterator[object]:
    kind, items = type(value), list(value)
    for at, item in enumerate(items[:2]):
        yield from (
            kind([*items[:at], other, *items[at + 1 :]]) for other in list(_vary_value(item))[:2]
        )
    if items:
        yield from (kind(items[:-1]), kind(items[1:]), kind(items + items[-1:]))
    if len(items) > 1:
        yield kind(reversed(items))
