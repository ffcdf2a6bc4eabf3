"""Ways to put a mutant into the loaded module of this process, and to take it out again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from ..collected_session import CollectedSession
from ..hot_swap import LoadedFunctions, OriginalModule
from ..loop_counter import LIMIT_FACTOR, MIN_LIMIT, LoopCounter
from ..module_reload import clear_caches, reload_in_place

KILLED, LATE, UNDECIDED, UNSTABLE = "killed", "late", "open", "doubt"
# Puts a mutant in the place of the original or of another mutant; False: it cannot in this way.
Apply = Callable[[], bool]


class Swap(Protocol):
    is_import: bool  # a mutant that cannot be applied cannot be imported

    def prepare(self, splice: dict[str, Any]) -> Apply:
        """Compile a mutant and return what applies it."""

    def revert(self) -> None:
        """Restore the original."""


class FunctionSwap:
    """Changed bodies of functions."""

    is_import = False

    def __init__(self, original: OriginalModule, functions: LoadedFunctions) -> None:
        self._original, self._functions = original, functions
        self.revert = functions.restore
        functions.replace_for_good(original.compile_marked_functions())

    def prepare(self, splice: dict[str, Any]) -> Apply:
        changed = self._original.compile_changed_functions(splice)

        def apply() -> bool:
            self.revert()
            return self._functions.replace(changed)

        return apply


class ModuleSwap:
    """Changes of what runs at import: the whole module is executed again in its namespace.

    Objects that tests hold from before may not see the change, so only a failure counts.
    """

    is_import = True

    def __init__(self, original: OriginalModule, namespace: dict[str, Any]) -> None:
        self._original, self._namespace = original, namespace

    @classmethod
    def find(cls, original: OriginalModule) -> ModuleSwap | None:
        """Return one for the module as it was imported; None where it was not."""
        for module in list(sys.modules.values()):
            if isinstance(module, ModuleType) and vars(module).get("__file__") == original.path:
                return cls(original, vars(module))
        return None

    def prepare(self, splice: dict[str, Any]) -> Apply:
        code = self._original.compile_with_change(splice)

        def apply() -> bool:
            try:
                reload_in_place(self._namespace, code)
            except Exception:  # it cannot be imported
                self.revert()
                return False
            clear_caches(self._namespace)
            return True

        return apply

    def revert(self) -> None:
        reload_in_place(self._namespace, self._original.code)
        clear_caches(self._namespace)


def confirm_failure(
    session: CollectedSession, failed: int, apply: Apply, swap: Swap, loops: LoopCounter
) -> str:
    """Run a test that failed on a mutant on the original and on the mutant again.

    Returns KILLED where it passes on the original only, and LATE where loops make far more
    iterations than on the original. UNDECIDED: only the lowest limit of iterations was exceeded.
    """
    was_late = loops.is_exceeded
    session.tear_down()
    swap.revert()
    loops.reset(None)
    if session.run_and_check_failed(failed) or not apply():
        return UNSTABLE
    loops.reset(max(MIN_LIMIT, LIMIT_FACTOR * loops.count))
    if session.run_and_check_failed(failed):
        return LATE if loops.is_exceeded else KILLED
    return UNDECIDED if was_late else UNSTABLE
