"""Removal of loaded modules that a program must not find: the zygote's, and shadowed modules."""

import os
import sys
import threading
import warnings
from collections.abc import Iterable

_TEST_TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "py", "_hypothesis_pytestplugin")
# Modules that an interpreter has loaded before the first line of a program. `_warnings` looks up
# `warnings`.
_STARTUP_MODULES = frozenset(
    "__main__ _abc _codecs _collections_abc _frozen_importlib _frozen_importlib_external _imp _io "
    "_signal _sitebuiltins _stat _thread _warnings _weakref abc builtins codecs encodings "
    "encodings.aliases encodings.utf_8 genericpath io marshal os os.path posix posixpath site stat sys "
    "time warnings zipimport".split()
)
# A file of the program with such a name is never imported.
_NEVER_SHADOWED = {*sys.builtin_module_names, *_STARTUP_MODULES, "ntpath"} - {"warnings"}


def hide_preloaded_modules(folder: str) -> None:
    """Unload test tools and shadowed modules, reset hooks; imports search `folder` first."""
    hide_test_tools()
    unload_shadowed_modules(folder)


def hide_test_tools() -> None:
    """Unload pytest and what it loads, and reset hooks."""
    sys.meta_path[:] = [item for item in sys.meta_path if not _is_test_tool(type(item).__module__)]
    sys.unraisablehook, threading.excepthook = sys.__unraisablehook__, threading.__excepthook__
    sys.excepthook, sys.displayhook = sys.__excepthook__, sys.__displayhook__
    _reset_warning_filters()
    for name in _find_loaded(_TEST_TOOLS):
        del sys.modules[name]


def _reset_warning_filters() -> None:
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")


def unload_shadowed_modules(folder: str) -> None:
    """Unload modules whose name is also that of a module in a folder of the run."""
    for name in _find_loaded(_importable_names(folder) - _NEVER_SHADOWED):
        if not _is_test_tool(name):
            del sys.modules[name]


def _find_loaded(names: Iterable[str]) -> list[str]:
    """Return the loaded modules of these names, with their submodules.

    Mostly there are none, and the loop is skipped: it writes to (copies) each page with a name.
    """
    loaded = {name for name in names if name in sys.modules}
    return [item for item in sys.modules if item.partition(".")[0] in loaded] if loaded else []


def _is_test_tool(module: str) -> bool:
    return module.partition(".")[0] in _TEST_TOOLS


def _importable_names(folder: str) -> set[str]:
    """Return the names of the modules that can be imported from a folder."""
    return {
        name.removesuffix(".py")
        for name in os.listdir(folder)
        if name.endswith(".py") or os.path.isfile(f"{folder}/{name}/__init__.py")
    }
