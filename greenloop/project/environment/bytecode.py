"""Bytecode for an environment's packages, which sandboxes mount read-only."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from greenloop.project.environment.interpreter import Environment

_MAX_SECONDS = 15.0  # the next command goes on with what is left
_LOADED_BY_PYTEST = frozenset({"_pytest", "pluggy", "iniconfig", "packaging"})
_TEST_FOLDERS = frozenset({"test", "tests"})


def compile_packages(environment: Environment) -> None:
    """Compile modules without bytecode, which each sandboxed test run would compile again.

    uv, for example, installs without bytecode. No code of the environment is executed: the
    interpreter is that of the base installation, and reads no `.pth` file and no environment
    variable. Nothing is written if PYTHONDONTWRITEBYTECODE is set.
    """
    files = [] if sys.dont_write_bytecode else [*_list_uncompiled(environment)]
    files.sort(key=lambda path: _LOADED_BY_PYTEST.isdisjoint(path.split("/")))
    if not files:
        return
    python = os.path.realpath(environment.python)
    command = [python, "-I", "-S", "-m", "compileall", "-q", "-i", "-"]
    paths = "\n".join(files).encode(errors="surrogateescape")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, input=paths, capture_output=True, timeout=_MAX_SECONDS)


def _list_uncompiled(environment: Environment) -> Iterator[str]:
    """Yield the modules in writable package folders that have no `__pycache__`."""
    for site in environment.site_folders:
        if not str(site).startswith(f"{environment.prefix}/"):
            continue
        for above, folders, names in os.walk(site):
            is_writable = "__pycache__" not in folders and os.access(above, os.W_OK)
            folders[:] = [name for name in folders if name not in {*_TEST_FOLDERS, "__pycache__"}]
            paths = [f"{above}/{name}" for name in names if name.endswith(".py")]
            if is_writable:
                yield from (path for path in paths if "\n" not in path)
