import pytest
from shop.prices import gross, total


def test_gross(hundred):
    assert gross(hundred) == 125


@pytest.mark.parametrize(("net", "price"), [(0, 0), (1, 1), (4, 5)])
def test_gross_is_rounded_down(net, price):
    assert gross(net) == price


def test_total():
    assert total([100, 200]) == 375
