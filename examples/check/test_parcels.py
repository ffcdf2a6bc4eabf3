import pytest

from parcels import discount, price


def test_small_parcel():
    assert price(1) == 490


def test_medium_parcel():
    assert price(3) == 690


def test_large_parcel():
    assert price(10) == 1290


def test_express_costs_more():
    assert price(1, express=True) > price(1)


def test_refused():
    with pytest.raises(ValueError):
        price(31)


def test_discount():
    assert discount(1000, 10) == 900
    assert discount(1000, 1) == 1000
