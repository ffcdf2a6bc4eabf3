import pytest
from versions import bump, latest, newer, parse


def test_parse():
    assert parse("v1.10.2") == (1, 10, 2)
    assert parse("3") == (3, 0, 0)


def test_parse_refuses():
    with pytest.raises(ValueError):
        parse("1.2.3.4")


@pytest.mark.parametrize(
    ("one", "other", "is_newer"),
    [("1.10", "1.9", True), ("1.2.3", "1.2.4", False), ("2.0", "2", False)],
)
def test_newer(one, other, is_newer):
    assert newer(one, other) is is_newer


def test_latest_is_the_first_of_equals():
    assert latest(["1.0", "v1.0.0", "0.9"]) == "1.0"
    assert latest([]) is None


def test_bump():
    assert bump("1.2.3") == "1.2.4"
    assert bump("1.2.3", "minor") == "1.3.0"
    assert bump("1.2.3", "major") == "2.0.0"
    with pytest.raises(ValueError):
        bump("1.2.3", "huge")
