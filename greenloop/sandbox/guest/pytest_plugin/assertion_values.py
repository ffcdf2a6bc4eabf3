"""Recording of the two values of the comparison on which an assertion failed."""

import reprlib
import sys
from types import FrameType
from typing import Any

from .failure_details import MAX_TEXT

_MAX_FRAMES_UP = 16
_HAS_IMPRECISE_LINES = sys.version_info < (3, 11)  # of statements over several lines


class ComparisonRecorder:
    """Recorder of the last comparison that pytest explained, and of its place in the tests."""

    def __init__(self) -> None:
        self._repr = reprlib.Repr()
        self._repr.maxlevel, self._repr.maxstring, self._repr.maxother = 4, MAX_TEXT, MAX_TEXT
        self._repr.maxlist = self._repr.maxtuple = self._repr.maxdict = 20
        self._repr.maxset = self._repr.maxfrozenset = self._repr.maxdeque = 20
        self._location: tuple[int, int] | None = None
        self._values: dict[str, str] = {}

    def record(self, operator: str, left: Any, right: Any, work: str) -> None:
        """Record a comparison. pytest calls this for failing assertions only."""
        self._location = None
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_MAX_FRAMES_UP):
            if frame is None or frame.f_code.co_filename.startswith(work):
                break
            frame = frame.f_back
        if frame is not None:
            left, right = self._format(left), self._format(right)
            self._values = {"operator": operator[:MAX_TEXT], "left": left, "right": right}
            self._location = (id(frame), frame.f_lineno)

    def values_for(self, error: BaseException) -> dict[str, str] | None:
        """Return the recorded values if that comparison raised the error, else None."""
        location, self._location = self._location, None
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or location is None or not isinstance(error, AssertionError):
            return None
        frame, line = location
        is_same_line = line == trace.tb_lineno or (
            _HAS_IMPRECISE_LINES and "assert " in str(error.args[:1])
        )
        return self._values if is_same_line and frame == id(trace.tb_frame) else None

    def _format(self, value: Any) -> str:
        try:
            text = str(self._repr.repr(value))
            return text.encode("utf-8", "backslashreplace").decode()[:MAX_TEXT]
        except Exception as error:  # a value's own `__repr__` may do anything
            return f"<its repr raises: {type(error).__name__}>"
