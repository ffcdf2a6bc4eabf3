"""What both processes have in common: the module of a text, and the numbers of its rows."""

from __future__ import annotations

import itertools
import os
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# The texts are the program of both processes: its classes have the same names, and code that looks
# around finds what it finds elsewhere.
MODULE_NAME, _FILE_NAME = "__main__", "scenario.py"
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


def create_module(text: str, provided: Mapping[str, Any]) -> types.ModuleType:
    """Return a module that a text is executed in; what it is provided with has names like `x__`.

    As in `python -c`, it has a file only where the text asks for it.
    """
    module = types.ModuleType(MODULE_NAME)
    sys.modules[MODULE_NAME] = module
    reserved = {f"{name}__": value for name, value in provided.items()}
    place = {"__file__": os.path.abspath(_FILE_NAME)} if "__file__" in text else {}
    vars(module).update({**place, **reserved})
    return module


def _get_values(row: Any) -> Iterable[Any]:
    values: Iterable[Any] = getattr(row, "values", row)
    return values
