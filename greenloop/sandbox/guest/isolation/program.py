"""Process state of a program, as after the start of an interpreter with the program's file."""

import faulthandler
import os
import sys
import types
from collections.abc import Sequence
from typing import Any


def find_program(folder: str) -> str:
    """Return the path of the program in a folder, which has the name of the folder."""
    return os.path.join(folder, f"{os.path.basename(folder)}.py")


def enter_program(folder: str, import_roots: Sequence[str]) -> None:
    """Give this process the state of a program in a folder; create the program's file, empty.

    `import_roots` are the folders of its modules, relative to `folder`.
    """
    faulthandler.disable()
    path = find_program(folder)
    with open(path, "x"):
        pass
    sys.path[:0] = dict.fromkeys(
        os.path.normpath(os.path.join(folder, i)) for i in (*import_roots, "")
    )
    sys.argv[:] = [path]
    sys.orig_argv[:] = [sys.executable, path]
    sys.modules["__main__"] = types.ModuleType("__main__")
    for name in ("PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    open_streams()


def open_streams() -> None:
    """Open the standard streams as Python does, but line-buffered: a killed run loses no line."""
    sys.stdin = sys.__stdin__ = _open_stream(0, "r", "surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _open_stream(1, "w", "surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _open_stream(2, "w", "backslashreplace")  # type: ignore[misc]


def _open_stream(number: int, mode: str, errors: str) -> Any:
    stream = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    if mode == "w":
        stream.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    return stream
