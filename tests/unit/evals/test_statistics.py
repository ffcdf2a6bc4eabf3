"""Statistics compared with published values and other programs."""

import pytest

from greenloop.evals.results import build_share, wilson_interval
from tests.support.programs import read_table


@pytest.mark.parametrize(("count", "of", "low", "high"), read_table(__file__, "WILSON"))
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    assert wilson_interval(count, of) == pytest.approx((low, high), abs=6e-5)


def test_share_of_zero_tasks_has_no_interval() -> None:
    assert build_share(0, 0).low is None
