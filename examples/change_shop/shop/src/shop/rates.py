"""Rates of value added tax, in percent."""

RATES = {"standard": 25, "reduced": 10}


def rate_of(kind: str) -> int:
    """Return the rate of a kind of goods. Raises KeyError for an unknown one."""
    return RATES[kind]
