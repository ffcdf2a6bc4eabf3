"""Modules that the zygote has loaded, hidden until the program imports them.

A program can read in `sys.modules` what surrounds it. One that finds there only what an interpreter
loads at its start, and what it imports itself, cannot tell the process of a run from another one.
"""

from __future__ import annotations

import sys
from importlib.machinery import BuiltinImporter, ModuleSpec
from types import ModuleType
from typing import Any

# What an interpreter has loaded before the first line of a program. `_warnings` looks up `warnings`.
_STARTUP_MODULES = frozenset(
    "__main__ _abc _codecs _collections_abc _frozen_importlib _frozen_importlib_external _imp _io "
    "_signal _sitebuiltins _stat _thread _warnings _weakref abc builtins codecs encodings "
    "encodings.aliases encodings.utf_8 genericpath io marshal os os.path posix posixpath site stat sys "
    "time warnings zipimport".split()
)


def hide_modules() -> None:
    """Take modules out of `sys.modules`; an import gives each of them back as it is."""
    hidden = {name: sys.modules.pop(name) for name in {*sys.modules} - _STARTUP_MODULES}

    def find_spec(cls: type, name: str, *more: Any, **named: Any) -> ModuleSpec | None:
        module = hidden.pop(name, None)
        if module is None:
            return BuiltinImporter.find_spec(name, *more, **named)
        return ModuleSpec(name, _Loaded(module))  # type: ignore[arg-type]

    namespace = {"__module__": BuiltinImporter.__module__, "find_spec": classmethod(find_spec)}
    finder: Any = type(BuiltinImporter.__name__, (BuiltinImporter,), namespace)
    sys.meta_path[:] = [finder if item is BuiltinImporter else item for item in sys.meta_path]


class _Loaded:
    """Loads a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has set another one
