"""Unloading of modules that a script must not find: pytest, and those that its own files shadow."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterable

_TEST_TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "py", "_hypothesis_pytestplugin")
# Loaded before the first line of any script: a file of such a name is never imported.
_STARTUP_MODULES = {
    *sys.builtin_module_names,
    *"__main__ _abc _codecs _collections_abc _frozen_importlib _frozen_importlib_external".split(),
    *"_io _signal _sitebuiltins _stat _thread _warnings _weakref abc codecs encodings".split(),
    *"genericpath io marshal ntpath os posix posixpath site stat zipimport".split(),
}


def hide_preloaded_modules(folder: str) -> None:
    """Unload them; `folder` is the first that the script's imports search."""
    sys.meta_path[:] = [item for item in sys.meta_path if not _is_test_tool(type(item).__module__)]
    sys.unraisablehook, threading.excepthook = sys.__unraisablehook__, threading.__excepthook__
    sys.excepthook, sys.displayhook = sys.__excepthook__, sys.__displayhook__
    _reset_warning_filters()
    for name in _find_loaded(_TEST_TOOLS):
        del sys.modules[name]
    unload_shadowed_modules(folder)


def _reset_warning_filters() -> None:
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")


def unload_shadowed_modules(folder: str) -> None:
    """Unload modules that share a name with something in a folder of the run."""
    for name in _find_loaded(_importable_names(folder) - _STARTUP_MODULES):
        if not _is_test_tool(name):
            del sys.modules[name]


def _find_loaded(names: Iterable[str]) -> list[str]:
    """Return the loaded modules of these names, with their submodules.

    Mostly there are none: to go through all modules writes to each page with one of their names.
    """
    loaded = {name for name in names if name in sys.modules}
    return [item for item in sys.modules if item.partition(".")[0] in loaded] if loaded else []


def _is_test_tool(module: str) -> bool:
    return module.partition(".")[0] in _TEST_TOOLS


def _importable_names(folder: str) -> set[str]:
    """Return the names under which something in a folder can be imported."""
    return {
        name.removesuffix(".py")
        for name in os.listdir(folder)
        if name.endswith(".py") or os.path.isfile(f"{folder}/{name}/__init__.py")
    }
