"""Module in which a text of programs is executed."""

import builtins
import os
import sys
import types
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

from ..isolation.program import find_program

# The text is the main program, so that code which inspects its process finds the usual state.
MODULE_NAME = "__main__"
_INSTRUCTIONS = ("programs", "row_cpu_s", "begin_for_cpu_s")


def create_module(
    text: str, provided: Mapping[str, Any], name: str = MODULE_NAME
) -> types.ModuleType:
    """Return a module in which a text is executed; `provided` objects get names like `x__`.

    Like a program it has a file. The provided objects are not in `__main__` but in a copy of the
    built-in names, so that the text also keeps the original built-in functions.
    """
    module = types.ModuleType(name)
    sys.modules[name] = module
    known = types.ModuleType(builtins.__name__, builtins.__doc__)
    vars(known).update(vars(builtins))
    vars(known).update({f"{name}__": value for name, value in provided.items()})
    path = find_program(os.getcwd())
    place = {
        "__file__": path,
        "__cached__": None,
        "__loader__": SourceFileLoader(MODULE_NAME, path),
    }
    vars(module).update({**place, "__annotations__": {}, "__builtins__": known})
    return module


def take_instructions(space: dict[str, Any]) -> dict[str, Any]:
    """Remove a text's instructions to the runner from its names, and return them."""
    found = {name: space.pop(name) for name in _INSTRUCTIONS if name in space}
    for function, _, _ in found["programs"]:
        space.pop(function.__name__, None)
    return found


def name_folder(program: int, row: int) -> str:
    """Return the name of a row's folder, which is the same in each run."""
    return f"tmp{program}_{row}"
