"""Many changes of a module tried in one process, one after the other, on a few of its tests."""

from __future__ import annotations

import os
import sys
import tempfile
import types
from collections.abc import Sequence
from typing import Any

from ..collected_session import Suite
from ..mutants.hot_swap import Living, Original
from ..mutants.module_reload import forget_answers, run_again
from ..time_limit import Alarm

UNTRIED, BEGUN, FAILED, PASSED, SLOW = 0, 1, 2, 3, 4


class Notes:
    """One byte a change, seen by this process and its forks: what ends a fork, loses none."""

    def __init__(self, count: int) -> None:
        self._file, path = tempfile.mkstemp()  # memory cannot be shared here
        os.unlink(path)
        os.truncate(self._file, count)

    def __getitem__(self, number: int) -> int:
        return os.pread(self._file, 1, number)[0]

    def __setitem__(self, number: int, what: int) -> None:
        os.pwrite(self._file, bytes([what]), number)


class Changing:
    """The module in this process, with one change or with none."""

    def __init__(self, module: str, original: Original, living: Living) -> None:
        self._original, self._living = original, living
        self._names: dict[str, Any] = vars(sys.modules[module])
        self._codes: list[tuple[types.FunctionType, types.CodeType]] = []
        self._reloaded = False

    def put(self, splice: dict[str, Any]) -> None:
        """Makes one change. Raises what the changed module raises when it is imported."""
        changed = self._original.changed(splice)
        self._codes = self._living.codes(changed or ())
        if not self._living.replace(changed):
            self.take_back()
            self._reloaded = True
            run_again(self._names, self._original.with_change(splice))
        forget_answers(self._names)

    def take_back(self) -> None:
        for function, code in self._codes:
            function.__code__ = code
        self._codes = []
        if self._reloaded:
            self._reloaded = False
            run_again(self._names, self._original.whole)


class Screen:
    """Some tests that a change must pass, each in so many CPU seconds."""

    def __init__(
        self, suite: Suite, changing: Changing, tests: Sequence[int], limit_s: float
    ) -> None:
        self._suite, self._changing = suite, changing
        self._tests, self._limit_s = tests, limit_s

    def try_some(self, splices: Sequence[dict[str, Any]], notes: Notes) -> None:
        """Notes what became of each; ends early where the next would not meet things as they are."""
        for splice in splices:
            number = splice["place"]
            notes[number] = BEGUN
            notes[number] = self._tried(splice)
            if not (self._took_back() and self._suite.at_rest):
                return

    def _tried(self, splice: dict[str, Any]) -> int:
        try:
            with Alarm(self._limit_s) as alarm:
                self._changing.put(splice)
            if alarm.rang:
                return SLOW
        except Exception:  # the changed module cannot be imported
            return FAILED
        for number in self._tests:
            passed = False
            with Alarm(self._limit_s) as alarm:
                passed = self._suite.passes(number)
            if alarm.rang or not passed:
                return SLOW if alarm.rang else FAILED
        return PASSED

    def _took_back(self) -> bool:
        try:
            self._changing.take_back()
        except BaseException:
            return False
        return True
