"""The two values of the comparison that an assertion failed on."""

from __future__ import annotations

import reprlib
import sys
from types import FrameType
from typing import Any

from .failure_details import TEXT

_WAY_UP = 16
_LINES_VARY = sys.version_info < (3, 11)  # within one statement that has several


class Compared:
    """Remembers the last comparison that pytest explained, and where in the tests it stood."""

    def __init__(self) -> None:
        self._short = reprlib.Repr()
        self._short.maxlevel, self._short.maxstring, self._short.maxother = 4, TEXT, TEXT
        self._short.maxlist = self._short.maxtuple = self._short.maxdict = 20
        self._short.maxset = self._short.maxfrozenset = self._short.maxdeque = 20
        self._place: tuple[int, int] | None = None
        self._values: dict[str, str] = {}

    def note(self, operator: str, left: Any, right: Any, work: str) -> None:
        """Called while the assertion fails; pytest makes the same texts, so they cost no more."""
        self._place = None
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_WAY_UP):
            if frame is None or frame.f_code.co_filename.startswith(work):
                break
            frame = frame.f_back
        if frame is not None:
            left, right = self._text(left), self._text(right)
            self._values = {"operator": operator[:TEXT], "left": left, "right": right}
            self._place = (id(frame), frame.f_lineno)

    def of(self, error: BaseException) -> dict[str, str] | None:
        """The values that belong to this error: raised where the last comparison stood."""
        place, self._place = self._place, None
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or place is None or not isinstance(error, AssertionError):
            return None
        frame, line = place
        here = line == trace.tb_lineno or (_LINES_VARY and "assert " in str(error.args[:1]))
        return self._values if here and frame == id(trace.tb_frame) else None

    def _text(self, value: Any) -> str:
        try:
            text = str(self._short.repr(value))
            return text.encode("utf-8", "backslashreplace").decode()[:TEXT]
        except Exception as error:  # a value's own `__repr__` may do anything
            return f"<its text cannot be made: {type(error).__name__}>"
