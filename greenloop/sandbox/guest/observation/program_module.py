"""The module of a text of programs."""

import builtins
import os
import sys
import types
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

from ..isolation.program import find_program

# The text is the program of its process: code that looks around finds what it finds elsewhere.
MODULE_NAME = "__main__"
_INSTRUCTIONS = ("programs", "row_cpu_s", "begin_for_cpu_s")


def create_module(
    text: str, provided: Mapping[str, Any], name: str = MODULE_NAME
) -> types.ModuleType:
    """Return a module that a text is executed in; what it is provided with has names like `x__`.

    As in a program it has a file, and `__main__` shows nothing of what is provided: functions of
    the text find that as they find built-in ones, of which they have the original ones.
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
    """Return what a text says to the runner, and take it out of the text's names."""
    found = {name: space.pop(name) for name in _INSTRUCTIONS if name in space}
    for function, _, _ in found["programs"]:
        space.pop(function.__name__, None)
    return found


def name_folder(program: int, row: int) -> str:
    """Return the name of the folder of a row, the same each time."""
    return f"tmp{program}_{row}"
