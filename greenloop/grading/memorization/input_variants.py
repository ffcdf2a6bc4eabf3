"""Arguments that differ a little from given ones, of the same kinds."""

from __future__ import annotations

from collections.abc import Iterator

_STEPS = (-1, 1, 2, -2, 3)  # small: what takes long for a larger number is not to be waited for
_MOST = 8


def alike(arguments: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    """The same arguments with one of them changed, some ways of each."""
    for at, value in enumerate(arguments):
        for number, other in enumerate(_others(value)):
            if number < _MOST:
                yield (*arguments[:at], other, *arguments[at + 1 :])


def _others(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + step for step in _STEPS)
    elif isinstance(value, str):
        yield from _texts(value)
    elif isinstance(value, (list, tuple)):
        yield from _sequences(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in _others(item))
        yield dict(list(value.items())[1:])


def _texts(value: str) -> Iterator[str]:
    digits = "".join(_next(letter) for letter in value)
    changed = [value[:-1], value[1:], digits, value.swapcase(), value[::-1], value + value[-1:]]
    for other in dict.fromkeys([*changed, f"{value} {value}"]):
        if other != value:
            yield other


def _next(letter: str) -> str:
    """The next digit: 0 after 9; all else as it is."""
    return str((int(letter) + 1) % 10) if letter in "0123456789" else letter


def _sequences(value: list[object] | tuple[object, ...]) -> Iterator[object]:
    kind, items = type(value), list(value)
    for at, item in enumerate(items[:2]):
        yield from (
            kind([*items[:at], other, *items[at + 1 :]]) for other in list(_others(item))[:2]
        )
    if items:
        yield from (kind(items[:-1]), kind(items[1:]), kind(items + items[-1:]))
    if len(items) > 1:
        yield kind(reversed(items))
