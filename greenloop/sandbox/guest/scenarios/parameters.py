"""Rows of parameters of a scenario, numbered alike in both processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Tables = Iterable[tuple[Sequence[str], Iterable[Any]]]


def build_rows(tables: Tables) -> list[dict[str, Any]]:
    """Return the arguments of each row; of several tables the first changes slowest.

    A row is a tuple, or what `pytest.param` returns.
    """
    axes: list[list[dict[str, Any]]] = [
        [dict(zip(names, _get_values(row), strict=True)) for row in rows] for names, rows in tables
    ]
    return [
        {name: value for part in combination for name, value in part.items()}
        for combination in itertools.product(*axes)
    ]


def reserve_names(provided: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a text is provided with, under names that no test has."""
    return {**provided, **{f"{name}__": value for name, value in provided.items()}}


def _get_values(row: Any) -> Iterable[Any]:
    values: Iterable[Any] = getattr(row, "values", row)
    return values
