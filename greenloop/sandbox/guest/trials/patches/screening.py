"""Screening of patches: many tried in one process, one after the other, on a few tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from ...limits.cpu_time import CpuTimeLimit
from ..collected_session import CollectedSession
from ..hot_swap import LoadedFunctions, OriginalModule
from ..module_reload import clear_caches, reload_in_place

UNTRIED, STARTED, FAILED, PASSED, SLOW = 0, 1, 2, 3, 4


class PatchStatuses:
    """One byte a patch in a file that forks share: a fork that crashes loses nothing."""

    def __init__(self, count: int) -> None:
        self._fd, path = tempfile.mkstemp()  # shared memory is denied in the sandbox
        os.unlink(path)
        os.truncate(self._fd, count)

    def __getitem__(self, number: int) -> int:
        return os.pread(self._fd, 1, number)[0]

    def __setitem__(self, number: int, status: int) -> None:
        os.pwrite(self._fd, bytes([status]), number)


class PatchedModule:
    """The module in this process, with at most one patch applied."""

    def __init__(
        self, module: str, original: OriginalModule, loaded_functions: LoadedFunctions
    ) -> None:
        self._original, self._loaded_functions = original, loaded_functions
        self._namespace: dict[str, Any] = vars(sys.modules[module])
        self._is_reloaded = False

    def apply(self, splice: dict[str, Any]) -> None:
        """Apply a patch. Raises what the patched module raises when it is reloaded."""
        changed = self._original.compile_changed_functions(splice)
        if not self._loaded_functions.replace(changed):
            self._is_reloaded = True
            reload_in_place(self._namespace, self._original.compile_with_change(splice))
        clear_caches(self._namespace)

    def revert(self) -> None:
        """Restore the original functions and module."""
        self._loaded_functions.restore()
        if self._is_reloaded:
            self._is_reloaded = False
            reload_in_place(self._namespace, self._original.code)


class PatchScreen:
    """Tests that a patch must pass, each within `limit_s` CPU seconds."""

    def __init__(
        self,
        session: CollectedSession,
        patched_module: PatchedModule,
        tests: Sequence[int],
        limit_s: float,
    ) -> None:
        self._session, self._patched_module = session, patched_module
        self._tests, self._limit_s = tests, limit_s

    def try_patches(self, splices: Sequence[dict[str, Any]], statuses: PatchStatuses) -> None:
        """Set the status of each patch; stops if one cannot be reverted completely."""
        for splice in splices:
            number = splice["place"]
            statuses[number] = STARTED
            statuses[number] = self._try_patch(splice)
            if not (self._try_revert() and self._session.is_torn_down):
                return

    def _try_patch(self, splice: dict[str, Any]) -> int:
        try:
            with CpuTimeLimit(self._limit_s) as limit:
                self._patched_module.apply(splice)
            if limit.is_exceeded:
                return SLOW
        except Exception:  # the changed module cannot be imported
            return FAILED
        for number in self._tests:
            passed = False
            with CpuTimeLimit(self._limit_s) as limit:
                passed = self._session.run_and_check_passed(number)
            if limit.is_exceeded or not passed:
                return SLOW if limit.is_exceeded else FAILED
        return PASSED

    def _try_revert(self) -> bool:
        try:
            self._patched_module.revert()
        except BaseException:
            return False
        return True
