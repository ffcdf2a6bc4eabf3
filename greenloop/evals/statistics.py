"""Statistics of evaluations, each with its source."""

from __future__ import annotations

import math
from statistics import NormalDist

from greenloop.records.evaluation import Proportion

_CONFIDENCE_LEVEL = 0.95
SIGNIFICANCE_LEVEL = 0.05  # a difference is shown for a smaller p


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95% score interval of a proportion.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22 (1927), 209-212.
    """
    z = _z_score()
    share, spread = count / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, middle - half), min(1.0, middle + half)


def build_share(count: int, total: int) -> Proportion:
    """Return a proportion with its interval; both null for a total of 0."""
    if not total:
        return Proportion(count=count, of=total)
    low, high = wilson_interval(count, total)
    return Proportion(count=count, of=total, share=count / total, low=low, high=high)


def mcnemar_exact(a_alone: int, b_alone: int) -> float:
    """Return the two-sided p-value for equal paired proportions.

    It is an exact binomial test of the discordant pairs.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12 (1947), 153-157; in its exact conditional form.
    """
    pairs, fewer = a_alone + b_alone, min(a_alone, b_alone)
    tail = sum(math.comb(pairs, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**pairs))


def compute_paired_interval(a_alone: int, b_alone: int, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of the difference b - a of two paired proportions.

    D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 37 (2012),
    479-488.
    """
    of = pairs + 2
    a, b = (a_alone + 1) / of, (b_alone + 1) / of
    half = _z_score() * math.sqrt((a + b - (b - a) ** 2) / of)
    return max(-1.0, b - a - half), min(1.0, b - a + half)


def _z_score() -> float:
    return NormalDist().inv_cdf(0.5 + _CONFIDENCE_LEVEL / 2)
