"""Mutants put into the loaded module and taken out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.hot_swap import OriginalModule
from greenloop.sandbox.guest.trials.loop_counter import MIN_LIMIT, LoopCounter, LoopLimitExceeded
from greenloop.sandbox.guest.trials.mutants.swaps import (
    KILLED,
    LATE,
    UNDECIDED,
    UNSTABLE,
    ModuleSwap,
    confirm_failure,
)

TEXT = "LIMIT = 3\n\n\ndef is_full(count):\n    return count >= LIMIT\n"


@pytest.fixture
def module(tmp_path: Path) -> Iterator[ModuleType]:
    loaded = ModuleType("swapped_module")
    loaded.__file__ = str(tmp_path / "swapped_module.py")
    exec(TEXT, vars(loaded))
    sys.modules["swapped_module"] = loaded
    yield loaded
    del sys.modules["swapped_module"]


def find_swap(module: ModuleType) -> ModuleSwap:
    swap = ModuleSwap.find(OriginalModule(TEXT, str(module.__file__)))
    assert swap
    return swap


def splice(text: str) -> dict[str, Any]:
    return {"start": 0, "end": len("LIMIT = 3"), "text": text}


def test_functions_held_from_before_see_the_change_until_it_is_reverted(module: ModuleType) -> None:
    swap, is_full = find_swap(module), module.is_full
    assert swap.prepare(splice("LIMIT = 4"))()
    assert not is_full(3)
    swap.revert()
    assert is_full(3)


def test_a_mutant_that_cannot_be_imported_is_not_applied(module: ModuleType) -> None:
    assert not find_swap(module).prepare(splice("LIMIT = 3 / 0"))()
    assert module.is_full(3)


def test_a_module_that_was_not_imported_is_not_found(tmp_path: Path) -> None:
    assert ModuleSwap.find(OriginalModule(TEXT, str(tmp_path / "other.py"))) is None


class _Runs:
    """A session whose one test has these results, in turn, with as many iterations of loops."""

    def __init__(self, loops: LoopCounter, *runs: tuple[bool, int]) -> None:
        self._loops, self._runs = loops, iter(runs)

    def tear_down(self) -> None:
        pass

    def run_and_check_failed(self, number: int) -> bool:
        failed, count = next(self._runs)
        with suppress(LoopLimitExceeded):
            for _ in range(count):
                self._loops()
        return failed


RED, GREEN = True, False


@pytest.mark.parametrize(
    ("iterations", "runs", "outcome"),
    [
        (0, [(GREEN, 0), (RED, 0)], KILLED),
        (0, [(RED, 0)], UNSTABLE),
        (0, [(GREEN, 0), (GREEN, 0)], UNSTABLE),
        (MIN_LIMIT + 1, [(GREEN, 20), (RED, MIN_LIMIT + 1)], LATE),
        (MIN_LIMIT + 1, [(GREEN, 200), (RED, MIN_LIMIT + 1)], KILLED),  # not 100 times as many
        (MIN_LIMIT + 1, [(GREEN, 200), (RED, 20_001)], LATE),
        (MIN_LIMIT + 1, [(GREEN, 200), (GREEN, MIN_LIMIT + 1)], UNDECIDED),
        (MIN_LIMIT + 1, [(RED, 200)], UNSTABLE),
    ],
)
def test_only_red_green_red_is_certain(
    iterations: int, runs: list[tuple[bool, int]], outcome: str, module: ModuleType
) -> None:
    loops = LoopCounter()
    loops.reset(MIN_LIMIT)
    with suppress(LoopLimitExceeded):
        for _ in range(iterations):
            loops()
    session: Any = _Runs(loops, *runs)
    assert confirm_failure(session, 0, lambda: True, find_swap(module), loops) == outcome
