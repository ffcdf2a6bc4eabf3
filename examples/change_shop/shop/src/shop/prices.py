"""Prices with and without tax, in cents."""

from shop.rates import rate_of


def gross(net: int, kind: str = "standard") -> int:
    """Return the price with tax, rounded down."""
    return net + net * rate_of(kind) // 100


def total(nets: list[int]) -> int:
    """Return the sum of the prices with tax."""
    return sum(gross(net) for net in nets)
