import pytest
from stock import Item, OutOfStock, Stock


@pytest.fixture
def stock():
    made = Stock()
    made.add("pen", 20, 150)
    made.add("book", 4, 1200)
    return made


def test_add_new(stock):
    assert stock.items["pen"] == Item("pen", 150, 20, 0)


def test_add_more(stock):
    assert stock.add("pen", 5).count == 25
    assert stock.items["pen"].price_cents == 150


def test_add_with_another_price(stock):
    assert stock.add("pen", 1, 160).price_cents == 160


def test_add_needs_a_count(stock):
    with pytest.raises(ValueError, match="positive"):
        stock.add("pen", 0)


def test_add_needs_a_price(stock):
    with pytest.raises(ValueError, match="price"):
        stock.add("cup", 1)


def test_reserve(stock):
    stock.reserve("pen", 15)
    assert stock.items["pen"].free == 5
    assert stock.items["pen"].count == 20


def test_reserve_one(stock):
    stock.reserve("book")
    assert stock.items["book"].reserved == 1


def test_reserve_all(stock):
    stock.reserve("book", 4)
    assert stock.items["book"].free == 0


def test_reserve_too_many(stock):
    stock.reserve("book", 1)
    with pytest.raises(OutOfStock) as told:
        stock.reserve("book", 5)
    assert (told.value.name, told.value.missing) == ("book", 2)
    assert str(told.value) == "2 of book are missing"


def test_release(stock):
    stock.reserve("pen", 5)
    assert stock.release("pen", 3) == 3
    assert stock.items["pen"].reserved == 2


def test_release_not_more_than_reserved(stock):
    stock.reserve("pen", 2)
    assert stock.release("pen", 9) == 2
    assert stock.release("pen") == 0
    assert stock.moved("release") == 2


def test_release_one(stock):
    stock.reserve("pen", 2)
    assert stock.release("pen") == 1


def test_ship_takes_reserved_first(stock):
    stock.reserve("pen", 4)
    stock.ship("pen", 3)
    assert (stock.items["pen"].count, stock.items["pen"].reserved) == (17, 1)


def test_ship_takes_free_then(stock):
    stock.reserve("pen", 4)
    stock.ship("pen", 6)
    assert (stock.items["pen"].count, stock.items["pen"].reserved) == (14, 0)


def test_ship_too_many(stock):
    with pytest.raises(OutOfStock) as told:
        stock.ship("book", 6)
    assert told.value.missing == 2
    assert stock.ship("book", 4) == 4800


@pytest.mark.parametrize(
    ("count", "cents"), [(1, 150), (9, 1350), (10, 1350), (49, 6615), (50, 6000)]
)
def test_price_in_bulk(stock, count, cents):
    stock.add("pen", 100)
    assert stock.ship("pen", count) == cents


def test_ship_one_of_unknown(stock):
    assert stock.ship("book") == 1200
    with pytest.raises(OutOfStock) as told:
        stock.ship("cup")
    assert told.value.missing == 0


def test_running_low(stock):
    assert stock.running_low() == []
    stock.reserve("book", 1)
    assert stock.running_low() == []
    stock.reserve("book", 1)
    stock.reserve("pen", 18)
    assert stock.running_low() == ["book", "pen"]


def test_value(stock):
    assert stock.value_cents() == 20 * 150 + 4 * 1200


def test_moved(stock):
    stock.ship("pen", 3)
    stock.ship("book", 1)
    stock.ship("pen", 2)
    assert stock.moved("ship") == 6
    assert stock.moved("ship", "pen") == 5
    assert stock.moved("add", "book") == 4


def test_low_can_be_set():
    stock = Stock(low=1)
    stock.add("cup", 1, 5)
    assert stock.running_low() == []
