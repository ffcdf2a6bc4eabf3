"""Statistics compared with published values and other programs."""

import pytest

from greenloop.evals.comparison import (
    build_share,
    compute_paired_interval,
    mcnemar_exact,
    wilson_interval,
)


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


@pytest.mark.parametrize(
    ("a_alone", "b_alone", "p"),
    [(1, 7, 0.0703), (7, 1, 0.0703), (0, 0, 1.0), (3, 3, 1.0), (0, 6, 0.03125)],
)
def test_mcnemar(a_alone: int, b_alone: int, p: float) -> None:
    assert mcnemar_exact(a_alone, b_alone) == pytest.approx(p, abs=5e-5)


def test_paired_interval() -> None:
    """`ci.prop.ps(.05, 12, 4, 26, 6)` of R's statpsych, by one of the method's authors."""
    assert compute_paired_interval(4, 26, 48) == pytest.approx((0.2548067, 0.6251933), abs=1e-7)
    low, high = compute_paired_interval(0, 0, 5)
    assert low < 0 < high
