"""Lines of the code under test in a traceback of the tests' process, which never ran them."""

from __future__ import annotations

import linecache
import sys
import traceback
import types
from typing import Any

from .errors import Broken

_MOST, _MOST_TEXT = 40, 300


def of(error: BaseException, folder: str) -> list[list[Any]]:
    """[file, line, function] of the frames below `folder`, outermost first."""
    walked = [
        (frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    own = [list(item) for item in walked if item[0].startswith(folder)]
    return own if len(own) <= _MOST else own[: _MOST // 2] + own[-_MOST // 2 :]


def put(error: BaseException, frames: Any) -> BaseException:
    """The error, as if it had come through these frames. Raises Broken where they make no sense."""
    made: types.TracebackType | None = None
    try:
        for file, line, function in reversed(frames[:_MOST] if frames else ()):
            frame = _frame(str(file)[:_MOST_TEXT], int(line), str(function)[:_MOST_TEXT])
            made = types.TracebackType(made, frame, 0, int(line))
    except (ValueError, TypeError, OverflowError) as flaw:
        raise Broken(f"it sent what is no traceback: {flaw}") from None
    return error.with_traceback(made)


def _frame(file: str, line: int, function: str) -> types.FrameType:
    def here() -> types.FrameType: return sys._getframe()  # fmt: skip

    code = here.__code__.replace(co_filename=file, co_name=function, co_firstlineno=max(1, line))
    found: types.FrameType = types.FunctionType(code, {"sys": sys})()
    return found


def keep_source(file: str, source: str) -> None:
    """So that the lines can be shown: the file itself is not to be found here."""
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
