"""Amounts of money, in cents."""


def to_cents(text):
    """The amount that a text such as '12.345' names, in whole cents."""
    whole, _, rest = text.strip().partition(".")
    cents = int((rest + "00")[:2])
    return int(whole) * 100 + cents


def show(cents):
    """Cents as a text: 1205 is '12.05'."""
    return f"{cents // 100}.{cents % 100:02}"
