"""Prices of a parcel service."""


def price(weight: float, express: bool = False) -> int:
    """Return the price of a parcel in cents.

    `weight` is in kilograms: up to 2 kg cost 490 cents, up to 5 kg 690, up to 30 kg 1290.
    Express costs half as much again. A parcel of no weight, or of more than 30 kg, is refused.
    """
    if weight <= 0 or weight > 30:
        raise ValueError(f"not between 0 and 30 kg: {weight}")
    if weight <= 2:
        cents = 490
    elif weight <= 5:
        cents = 690
    else:
        cents = 1290
    return cents * 3 // 2 if express else cents


def discount(total: int, parcels: int) -> int:
    """Return the total of several parcels in cents, less 10 percent from 5 parcels on."""
    return total * 9 // 10 if parcels >= 5 else total
