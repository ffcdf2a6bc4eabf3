"""Mutants put into the loaded module and taken out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.hot_swap import OriginalModule
from greenloop.sandbox.guest.trials.mutants.swaps import ModuleSwap, fails_only_mutated

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
    """A session whose one test has these results, in turn."""

    def __init__(self, *failed: bool) -> None:
        self._failed = iter(failed)

    def tear_down(self) -> None:
        pass

    def run_and_check_failed(self, number: int) -> bool:
        return next(self._failed)


@pytest.mark.parametrize(
    ("failed", "is_certain"),
    [((False, True), True), ((True,), False), ((False, False), False)],
)
def test_only_red_green_red_is_certain(failed: tuple[bool, ...], is_certain: bool) -> None:
    session: Any = _Runs(*failed)
    assert fails_only_mutated(session, 0, lambda: True, lambda: None) is is_certain
