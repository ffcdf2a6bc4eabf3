"""Numbers: Roman numerals, divisors, primes, bases, rounding."""

from __future__ import annotations

ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"))
ROMAN_SMALL = ((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def to_roman(number: int) -> str:
    if not 0 < number < 4000:
        raise ValueError("out of range")
    found = ""
    for value, sign in ROMAN + ROMAN_SMALL:
        while number >= value:
            found += sign
            number -= value
    return found


def from_roman(text: str) -> int:
    values = {sign: value for value, sign in ROMAN + ROMAN_SMALL if len(sign) == 1}
    total = highest = 0
    for sign in reversed(text.upper()):
        if sign not in values:
            raise ValueError(sign)
        value = values[sign]
        if value < highest:
            total -= value
        else:
            total += value
            highest = value
    if not text or to_roman(total) != text.upper():
        raise ValueError(text)
    return total


def gcd(first: int, second: int) -> int:
    while second:
        first, second = second, first % second
    return abs(first)


def lcm(*numbers: int) -> int:
    result = 1
    for number in numbers:
        if number == 0:
            return 0
        result = result * abs(number) // gcd(result, number)
    return result


def factors(number: int) -> list[int]:
    """Prime factors, smallest first."""
    if number < 1:
        raise ValueError("must be positive")
    found = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        found.append(number)
    return found


def primes_below(limit: int) -> list[int]:
    sieve = [True] * max(limit, 2)
    sieve[0] = sieve[1] = False
    for number in range(2, limit):
        if sieve[number]:
            for multiple in range(number * number, limit, number):
                sieve[multiple] = False
    return [number for number, prime in enumerate(sieve) if prime]


def in_base(number: int, base: int) -> str:
    if not 2 <= base <= 36:
        raise ValueError("no such base")
    if number == 0:
        return "0"
    sign, rest, found = "-" if number < 0 else "", abs(number), ""
    while rest:
        rest, digit = divmod(rest, base)
        found = DIGITS[digit] + found
    return sign + found


def rounded(value: float, step: float = 1.0) -> float:
    """To the nearest multiple of a step, halves away from zero."""
    if step <= 0:
        raise ValueError("step must be positive")
    whole = int(abs(value) / step + 0.5)
    return whole * step if value >= 0 else -whole * step


def mean_and_spread(values: list[float]) -> tuple[float, float]:
    """Mean, and mean square deviation with n - 1; 0 for a single value."""
    if not values:
        raise ValueError("no values")
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, 0.0
    return mean, sum((value - mean) ** 2 for value in values) / (len(values) - 1)
