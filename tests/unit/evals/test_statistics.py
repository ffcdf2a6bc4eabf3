"""Statistics compared with published values and other programs."""

import pytest

from greenloop.evals.results import build_share, wilson_interval


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, Statistics in Medicine 17, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (29, 29, 0.8830, 1.0),  # the mirror of his 0 of 29 … 0.1170
    ],
)
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    assert wilson_interval(count, of) == pytest.approx((low, high), abs=6e-5)


def test_share_of_zero_tasks_has_no_interval() -> None:
    assert build_share(0, 0).low is None
