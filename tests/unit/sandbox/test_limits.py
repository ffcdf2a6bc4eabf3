"""Limits of wall-clock time on a busy machine."""

import pytest

from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits, stretch


@pytest.mark.parametrize(("load", "seconds"), [(0.0, 10.0), (4.0, 10.0), (12.0, 30.0), (1e3, 80.0)])
def test_runs_get_longer_where_they_share_the_processors(
    monkeypatch: pytest.MonkeyPatch, load: float, seconds: float
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    assert stretch(10.0) == seconds


def test_a_time_that_nobody_named_is_longer_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (8.0, 8.0, 8.0))
    default, named = ResourceLimits(), ResourceLimits(timeout_s=5.0)
    found = Job("tests", (), {}).apply_limits(default)
    assert (found.timeout_s, found.cpu_seconds) == (120.0, default.cpu_seconds)
    assert Job("tests", (), {}).apply_limits(named) == named
    assert Job("tests", (), {}, timeout_s=3.0).apply_limits(default).timeout_s == 3.0
