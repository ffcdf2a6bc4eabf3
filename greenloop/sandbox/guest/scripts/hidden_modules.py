"""Modules that the zygote has loaded, hidden until the program imports them.

A program can read in `sys.modules` what surrounds it. One that finds there only what an interpreter
loads at its start, and what it imports itself, cannot tell the process of a run from another one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.machinery import BuiltinImporter, ModuleSpec
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

# What an interpreter has loaded before the first line of a program. `_warnings` looks up
# `warnings`.
_STARTUP_MODULES = frozenset(
    "__main__ _abc _codecs _collections_abc _frozen_importlib _frozen_importlib_external _imp _io "
    "_signal _sitebuiltins _stat _thread _warnings _weakref abc builtins codecs encodings "
    "encodings.aliases encodings.utf_8 genericpath io marshal os os.path posix posixpath site stat sys "
    "time warnings zipimport".split()
)


def hide_modules() -> None:
    """Take modules out of `sys.modules`; an import gives each back as it is, with what it imports."""
    hidden = {name: sys.modules.pop(name) for name in {*sys.modules} - _STARTUP_MODULES}

    def find_spec(cls: type, name: str, *more: Any, **named: Any) -> ModuleSpec | None:
        module = hidden.pop(name, None)
        if module is None:
            return BuiltinImporter.find_spec(name, *more, **named)
        return ModuleSpec(name, _Loaded(module, hidden))  # type: ignore[arg-type]

    namespace = {"__module__": BuiltinImporter.__module__, "find_spec": classmethod(find_spec)}
    finder: Any = type(BuiltinImporter.__name__, (BuiltinImporter,), namespace)
    sys.meta_path[:] = [finder if item is BuiltinImporter else item for item in sys.meta_path]
    sys.path_importer_cache.clear()  # has the folders of what was loaded
    re.purge()


class _Loaded:
    """Loads a module that is there already, and with it the hidden modules that it has imported.

    Code in C looks up some of these in `sys.modules` without an import: `_json` needs
    `json.decoder`.
    """

    def __init__(self, module: ModuleType, hidden: dict[str, ModuleType]) -> None:
        self._module, self._spec, self._hidden = module, module.__spec__, hidden

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has set another one
        left = [module]
        while left:
            names = {*_list_imported(left.pop())} & self._hidden.keys()
            found = {name: self._hidden.pop(name) for name in names}
            sys.modules.update(found)
            left += found.values()


def _list_imported(module: ModuleType) -> Iterator[str]:
    """Yield the modules in a module's names, and those that its functions and classes come from."""
    for value in vars(module).values():
        if isinstance(value, ModuleType):
            yield value.__name__
        elif isinstance(value, (FunctionType, BuiltinFunctionType, type)):
            yield str(value.__module__)
