"""Failures of callbacks that an input passes to the code; they say nothing about the code."""

import dis
from types import FrameType, TracebackType

from ..program_module import MODULE_NAME
from .precondition import InputNotAllowed

_RAISE = dis.opmap["RAISE_VARARGS"]


def excuse_callback(error: BaseException, module: str) -> BaseException:
    """Return an error, or `InputNotAllowed` if the module called a scenario's function that failed.

    Changed literals cause that, such as an empty list for a clock that returns its first time.
    Exceptions of a `raise` statement in such a function are intended.
    """
    frames = list(_list_frames(error.__traceback__))
    called = any(frame.f_globals.get("__name__") == module for frame, _ in frames[:-1])
    if not called or frames[-1][0].f_globals.get("__name__") != MODULE_NAME:
        return error
    frame, at = frames[-1]
    is_meant = frame.f_code.co_code[at] == _RAISE
    return error if is_meant else InputNotAllowed("a function of the scenario fails")


def _list_frames(traceback: TracebackType | None) -> list[tuple[FrameType, int]]:
    found = []
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found
