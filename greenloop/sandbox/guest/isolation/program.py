"""What a program that an interpreter has started from a file finds in its process."""

import faulthandler
import io
import os
import sys
import types

# Below the code of a program is nothing; below that of a scenario are those of the runner and of
# the entry point's callers.
_FRAMES_OF_RUNNER = 5
# A program may call the code below functions of its own. Below those of pytest are more.
_MAX_FRAMES_OF_PROGRAM = 30


def find_program(folder: str) -> str:
    """Return the file of the program in a folder: it has the name of the folder."""
    return os.path.join(folder, f"{os.path.basename(folder)}.py")


def enter_program(folder: str, import_root: str) -> None:
    """Make this process that of a program in a folder; its file is empty.

    `import_root` is the folder of its modules, relative to its own.
    """
    faulthandler.disable()
    path = find_program(folder)
    with open(path, "x"):
        pass
    sys.path[:0] = dict.fromkeys(
        os.path.normpath(os.path.join(folder, i)) for i in (import_root, "")
    )
    sys.argv[:] = [path]
    sys.orig_argv[:] = [sys.executable, path]
    sys.modules["__main__"] = types.ModuleType("__main__")
    for name in ("PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"):
        os.environ.pop(name, None)
    sys.stdin.reconfigure(write_through=False)  # type: ignore[union-attr]
    for number, name in ((1, "stdout"), (2, "stderr")):
        vars(sys)[name] = vars(sys)[f"__{name}__"] = _open_stream(number, f"<{name}>")
    own = _count_frames() + _FRAMES_OF_RUNNER - os.urandom(1)[0] % (_MAX_FRAMES_OF_PROGRAM + 1)
    sys.setrecursionlimit(sys.getrecursionlimit() + own)


def _open_stream(number: int, name: str) -> io.TextIOWrapper:
    """Open a standard stream as an interpreter does that is not told to write without a buffer."""
    raw = io.FileIO(number, "w", closefd=False)
    raw.name = name
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    stream = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", errors, line_buffering=number == 2)
    stream.mode = "w"  # type: ignore[misc]
    return stream


def _count_frames() -> int:
    """Return how many functions have called the caller."""
    frame, count = sys._getframe(1).f_back, 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count
