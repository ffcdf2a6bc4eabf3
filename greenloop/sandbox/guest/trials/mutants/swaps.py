"""Ways to put a mutant into the loaded module of this process, and to take it out again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NamedTuple, Protocol

from ..collected_session import CollectedSession
from ..hit_counter import HIT_FACTOR, MIN_HIT_LIMIT, HitCounter, has_unbounded_loop
from ..hot_swap import FunctionKey, LoadedFunctions, OriginalModule
from ..module_reload import clear_caches, reload_in_place

KILLED, LATE, UNDECIDED, UNSTABLE = "killed", "late", "open", "doubt"
Apply = Callable[[], bool]  # False: the mutant cannot be applied in this way


class PreparedMutant(NamedTuple):
    """A compiled mutant: what applies it, and what restores the code that it changes."""

    apply: Apply
    restore: Callable[[], object]


class Swap(Protocol):
    hits: HitCounter

    def prepare(self, splice: dict[str, Any]) -> PreparedMutant:
        """Compile a mutant."""

    def revert(self) -> None:
        """Restore the original."""


class FunctionSwap:
    """Changed bodies of functions. While one is applied or restored, its hits are counted."""

    def __init__(self, original: OriginalModule, functions: LoadedFunctions) -> None:
        self.hits = HitCounter()
        self._original, self._functions = original, functions
        self._counts_hits = has_unbounded_loop(original.text)
        self.revert = functions.restore

    def prepare(self, splice: dict[str, Any]) -> PreparedMutant:
        changed = self._original.compile_changed_functions(splice, is_marked=self._counts_hits)
        if changed is None:
            return PreparedMutant(lambda: False, lambda: None)
        insert = self.hits.insert_into if self._counts_hits else lambda code: code
        before = {key: insert(code.before) for key, code in changed.items()}
        after = {key: insert(code.after) for key, code in changed.items()}
        return PreparedMutant(lambda: self._replace(after), lambda: self._replace(before))

    def _replace(self, codes: dict[FunctionKey, CodeType]) -> bool:
        self._functions.restore()
        return self._functions.replace(codes)


class ModuleSwap:
    """Changes of what runs at import: the whole module is executed again in its namespace.

    Objects that tests hold from before may not see the change, so only a failure counts.
    """

    def __init__(self, original: OriginalModule, namespace: dict[str, Any]) -> None:
        self.hits = HitCounter()  # counts nothing
        self._original, self._namespace = original, namespace

    @classmethod
    def find(cls, original: OriginalModule) -> ModuleSwap | None:
        """Return one for the module as it was imported; None where it was not."""
        for module in list(sys.modules.values()):
            if isinstance(module, ModuleType) and vars(module).get("__file__") == original.path:
                return cls(original, vars(module))
        return None

    def prepare(self, splice: dict[str, Any]) -> PreparedMutant:
        code = self._original.compile_with_change(splice)

        def apply() -> bool:
            try:
                reload_in_place(self._namespace, code)
            except Exception:  # it cannot be imported
                self.revert()
                return False
            clear_caches(self._namespace)
            return True

        return PreparedMutant(apply, self.revert)

    def revert(self) -> None:
        reload_in_place(self._namespace, self._original.code)
        clear_caches(self._namespace)


def confirm_failure(
    session: CollectedSession, failed: int, mutant: PreparedMutant, swap: Swap
) -> str:
    """Run a test that failed on a mutant on the original and on the mutant again, and revert.

    Returns KILLED where it passes on the original only, and LATE where it runs the mutant far more
    often than the original. UNDECIDED: only the lower limit of hits was exceeded.
    """
    was_exceeded = swap.hits.is_exceeded
    session.tear_down()
    mutant.restore()
    swap.hits.reset(None)
    if session.run_and_check_failed(failed):
        return UNSTABLE
    swap.hits.reset(max(MIN_HIT_LIMIT, HIT_FACTOR * swap.hits.count))
    if not mutant.apply():
        return UNSTABLE
    fails_again = session.run_and_check_failed(failed)
    swap.revert()
    if fails_again:
        return LATE if swap.hits.is_exceeded else KILLED
    return UNDECIDED if was_exceeded else UNSTABLE
