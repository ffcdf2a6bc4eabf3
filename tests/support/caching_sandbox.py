"""A sandbox that caches results, for tests that run the loop often on the same texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox import Sandbox

T = TypeVar("T")


class RememberingSandbox:
    """Forwards to a real sandbox and returns a stored result for arguments seen before.

    Tests that use it do not depend on differences between two equal runs.
    """

    def __init__(self, box: Sandbox) -> None:
        self._box, self._known, self._lock = box, dict[str, Any](), threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)

    def with_packages(self, packages: InstalledPackages) -> Any:
        return self._box.with_packages(packages) if packages else self

    def run_tests(self, code: str, tests: Any, **how: Any) -> Any:
        return self._once(
            ("tests", code, tests, how), lambda: self._box.run_tests(code, tests, **how)
        )

    def observe(self, code: str, module: str, programs: str, **how: Any) -> Any:
        asked = ("programs", code, module, programs, how)
        return self._once(asked, lambda: self._box.observe(code, module, programs, **how))

    def evaluate_calls(self, code: str, module: str, calls: Sequence[str], **how: Any) -> Any:
        asked = ("calls", code, module, tuple(calls), how)
        return self._once(asked, lambda: self._box.evaluate_calls(code, module, calls, **how))

    def _once(self, asked: tuple[Any, ...], work: Callable[[], T]) -> T:
        key = repr(asked)
        if key not in self._known:
            found: Any = work()
            if getattr(found, "ending", "finished") != "finished":
                return found  # A time limit or an interrupt: another run may end differently.
            with self._lock:
                self._known[key] = found
        known: T = self._known[key]
        return known
