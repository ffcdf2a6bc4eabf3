import pytest
from numerals import (
    factors,
    from_roman,
    gcd,
    in_base,
    lcm,
    mean_and_spread,
    primes_below,
    rounded,
    to_roman,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "I"), (4, "IV"), (1994, "MCMXCIV"), (2448, "MMCDXLVIII"), (3999, "MMMCMXCIX")],
)
def test_roman_both_ways(number, text):
    assert to_roman(number) == text
    assert from_roman(text) == number


def test_roman_small_letters():
    assert from_roman("xlix") == 49


@pytest.mark.parametrize("number", [0, 4000, -1])
def test_no_roman_for(number):
    with pytest.raises(ValueError):
        to_roman(number)


@pytest.mark.parametrize("text", ["", "IIII", "VX", "ABC", "IC"])
def test_not_roman(text):
    with pytest.raises(ValueError):
        from_roman(text)


def test_gcd():
    assert gcd(54, 24) == 6
    assert gcd(-4, 6) == 2
    assert gcd(0, 5) == 5


def test_lcm():
    assert lcm(4, 6) == 12
    assert lcm(2, 3, 5) == 30
    assert lcm(3, -7) == 21


def test_lcm_with_zero():
    assert lcm(3, 0) == 0
    assert lcm() == 1


def test_factors():
    assert factors(360) == [2, 2, 2, 3, 3, 5]


def test_factors_of_a_square():
    assert factors(49) == [7, 7]


def test_factors_of_a_prime():
    assert factors(97) == [97]
    assert factors(1) == []


def test_factors_of_nothing():
    with pytest.raises(ValueError):
        factors(0)


def test_primes():
    assert primes_below(30) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]


def test_primes_below_is_below():
    assert primes_below(5) == [2, 3]
    assert primes_below(0) == []
    assert primes_below(3) == [2]


def test_in_base():
    assert in_base(255, 16) == "ff"
    assert in_base(5, 2) == "101"
    assert in_base(71, 36) == "1z"


def test_in_base_signs():
    assert in_base(-10, 3) == "-101"
    assert in_base(0, 7) == "0"


@pytest.mark.parametrize("base", [1, 37])
def test_no_such_base(base):
    with pytest.raises(ValueError):
        in_base(3, base)


def test_rounded():
    assert rounded(2.5) == 3
    assert rounded(-2.5) == -3
    assert rounded(2.4) == 2


def test_rounded_to_steps():
    assert rounded(7, 5) == 5
    assert rounded(8, 5) == 10
    with pytest.raises(ValueError):
        rounded(1, 0)


def test_mean_and_spread():
    assert mean_and_spread([1, 2, 3, 6]) == (3, pytest.approx(14 / 3))


def test_mean_of_one():
    assert mean_and_spread([4]) == (4, 0)
    with pytest.raises(ValueError):
        mean_and_spread([])
