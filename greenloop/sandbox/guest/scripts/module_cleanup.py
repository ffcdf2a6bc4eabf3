"""What a script must not come across: pytest made ready, and modules of names that it has itself."""

from __future__ import annotations

import os
import sys
import threading
import warnings

_TEST_TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "py", "_hypothesis_pytestplugin")
# Loaded before the first line of any script: a file of such a name is never found by an import.
_FROM_THE_START = {
    *sys.builtin_module_names,
    *"__main__ _abc _codecs _collections_abc _frozen_importlib _frozen_importlib_external".split(),
    *"_io _signal _sitebuiltins _stat _thread _warnings _weakref abc codecs encodings".split(),
    *"genericpath io marshal ntpath os posix posixpath site stat zipimport".split(),
}


def leave(folder: str) -> None:
    """Takes them out of sight; `folder` is the one that the script's imports look into first."""
    sys.meta_path[:] = [item for item in sys.meta_path if not _of_tools(type(item).__module__)]
    sys.unraisablehook, threading.excepthook = sys.__unraisablehook__, threading.__excepthook__
    sys.excepthook, sys.displayhook = sys.__excepthook__, sys.__displayhook__
    _warn_as_from_the_start()
    for name in list(sys.modules):
        if _of_tools(name):
            del sys.modules[name]
    forget_shadowed(folder)


def _warn_as_from_the_start() -> None:
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")


def forget_shadowed(folder: str) -> None:
    """Takes back what was loaded under a name that something in a folder of the run's own has."""
    own = _importable(folder) - _FROM_THE_START
    for name in list(sys.modules):
        if name.partition(".")[0] in own and not _of_tools(name):
            del sys.modules[name]


def _of_tools(module: str) -> bool:
    return module.partition(".")[0] in _TEST_TOOLS


def _importable(folder: str) -> set[str]:
    """Names under which something in a folder can be imported."""
    return {
        name.removesuffix(".py")
        for name in os.listdir(folder)
        if name.endswith(".py") or os.path.isfile(f"{folder}/{name}/__init__.py")
    }
