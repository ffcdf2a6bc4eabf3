"""Preloading in a zygote before its first fork, except packages, which each run imports itself."""

import contextlib
import gc
import sys

from ..isolation import syscalls as k
from ..isolation.seccomp import build_filter
from ..isolation.shared_memory import limit_shared_mappings

_PYTEST_MODULES = (
    "_pytest._argcomplete _pytest.faulthandler _pytest.helpconfig _pytest.junitxml _pytest.pastebin "
    "_pytest.setuponly _pytest.setupplan _pytest.skipping _pytest.subtests _pytest.threadexception "
    "_pytest.tracemalloc _pytest.unittest _pytest.unraisableexception _pytest.warnings getpass "
    "readline termios"
).split()


def preload(families: tuple[int, ...]) -> None:
    """Load what all runs need; `families` are the socket families that the filter allows."""
    sys.dont_write_bytecode = True
    gc.disable()  # until everything is loaded and frozen
    k.load_functions()
    if families:
        from multiprocessing import connection

        # Used by managers; the default, AF_UNIX, is refused.
        connection.default_family = "AF_INET"  # type: ignore[attr-defined]
    limit_shared_mappings()
    with contextlib.suppress(OSError):
        build_filter(k.machine(), families)


def preload_pytest() -> None:
    """Load the modules that a session of pytest loads, as far as this version has them."""
    for name in ("pytest", *_PYTEST_MODULES):
        with contextlib.suppress(Exception):
            __import__(name)
