"""The CPU time of trials: what the measurement of the tests takes of it."""

import pytest

from greenloop.sandbox.guest.trials import limits


@pytest.mark.parametrize(("used", "left"), [(2.0, 8.0), (9.0, 5.0), (60.0, 5.0)])
def test_half_of_the_time_is_left_for_trials(
    monkeypatch: pytest.MonkeyPatch, used: float, left: float
) -> None:
    now, cpu = [100.0], [0.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(limits, "measure_cpu", lambda pid: (cpu[0], 0))
    budget = limits.Budget(10.0, 45.0)
    now[0], cpu[0] = 200.0, used
    budget.keep_half()
    assert budget.deadline == 200.0 + 22.5
    cpu[0] = used + left - 0.1
    assert not budget.is_over()
    cpu[0] = used + left + 0.1
    assert budget.is_over()
