from rounding import show, to_cents


def test_two_places():
    assert to_cents("12.34") == 1234
    assert to_cents("7") == 700


def test_half_a_cent_goes_up():
    assert to_cents("0.125") == 13
    assert to_cents("12.345") == 1235


def test_the_bank_rounds_half_to_even():
    assert to_cents("0.125") == 12
    assert to_cents("12.355") == 1236


def test_show():
    assert show(1205) == "12.05"
