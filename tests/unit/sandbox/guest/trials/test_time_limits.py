"""Trials that one core runs at a time."""

from __future__ import annotations

import pytest

from greenloop.sandbox.guest.trials.time_limits import count_trials_per_core


@pytest.mark.parametrize(
    ("cpu_s", "wall_s", "count"),
    [
        (1.0, 1.0, 1),
        (1.0, 4.0, 1),  # as on a busy machine
        (1.0, 15.9, 1),
        (1.0, 16.0, 2),
        (0.01, 10.0, 4),
        (0.0, 0.0, 1),
        (0.0, 1.0, 4),
    ],
)
def test_tests_that_mostly_wait_leave_time_for_others(
    cpu_s: float, wall_s: float, count: int
) -> None:
    half = {"cpu_s": cpu_s / 2, "wall_s": wall_s / 2}
    assert count_trials_per_core([half, half]) == count


def test_without_tests_it_is_one() -> None:
    assert count_trials_per_core([]) == 1
