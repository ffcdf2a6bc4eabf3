"""Limits of wall-clock time on a busy machine."""

import pytest

from greenloop.sandbox.limits import stretch


@pytest.mark.parametrize(("load", "seconds"), [(0.0, 10.0), (4.0, 10.0), (12.0, 30.0), (1e3, 80.0)])
def test_runs_get_longer_where_they_share_the_processors(
    monkeypatch: pytest.MonkeyPatch, load: float, seconds: float
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    assert stretch(10.0) == seconds
