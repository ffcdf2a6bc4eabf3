"""Odd but right: sentinels, views, mappings, tables."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "a sentinel": Odd(
        """
class _Missing:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __bool__(self):
        return False

    def __repr__(self):
        return "<missing>"


MISSING = _Missing()


def get(items, key, default=MISSING):
    found = items.get(key, default)
    if found is MISSING:
        raise KeyError(key)
    return found
""",
        """
import pytest

from m import MISSING, get


def test_get():
    assert get({"a": None}, "a") is None
    assert get({}, "a", 5) == 5


def test_missing():
    with pytest.raises(KeyError, match="b"):
        get({"a": 1}, "b")


def test_there_is_one():
    assert type(MISSING)() is MISSING
    assert not MISSING
    assert repr(MISSING) == "<missing>"
""",
    ),
    "a mutable view": Odd(
        """
class Column:
    def __init__(self, rows, index):
        self._rows, self._index = rows, index

    def __getitem__(self, row):
        return self._rows[row][self._index]

    def __setitem__(self, row, value):
        self._rows[row][self._index] = value

    def __len__(self):
        return len(self._rows)

    def __eq__(self, other):
        return list(self) == list(other)

    __hash__ = None


def column(rows, index):
    return Column(rows, index)
""",
        """
from m import column


def test_looks_through():
    rows = [[1, 2], [3, 4]]
    second = column(rows, 1)
    assert second == [2, 4]
    rows[0][1] = 9
    assert second == [9, 4]
    assert len(second) == 2


def test_writes_through():
    rows = [[1, 2], [3, 4]]
    column(rows, 0)[1] = 7
    assert rows == [[1, 2], [7, 4]]
""",
    ),
    "a table of facts": Odd(
        """
_ROMAN = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(n):
    if not 0 < n < 40:
        raise ValueError(n)
    found = ""
    for value, sign in _ROMAN:
        while n >= value:
            found += sign
            n -= value
    return found
""",
        """
import pytest

from m import roman


@pytest.mark.parametrize(
    "n, expected",
    [(1, "I"), (4, "IV"), (5, "V"), (9, "IX"), (10, "X"), (14, "XIV"), (39, "XXXIX")],
)
def test_roman(n, expected):
    assert roman(n) == expected


@pytest.mark.parametrize("n", [0, -1, 40, 100])
def test_out_of_range(n):
    with pytest.raises(ValueError):
        roman(n)
""",
    ),
    "a table that is asked for a part": Odd(
        """
_SAID = {200: "OK", 201: "Created", 204: "No Content", 301: "Moved Permanently", 400: "Bad Request",
         403: "Forbidden", 404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


def reason(status):
    try:
        return _SAID[status]
    except KeyError:
        raise ValueError(f"no such status: {status}") from None


def is_error(status):
    return status >= 400
""",
        """
import pytest

from m import is_error, reason


def test_reason():
    assert reason(200) == "OK"
    assert reason(404) == "Not Found"
    assert reason(503) == "Service Unavailable"


def test_error():
    assert is_error(400)
    assert not is_error(399)


def test_unknown():
    with pytest.raises(ValueError, match="no such status: 999"):
        reason(999)
""",
    ),
    "a mapping that looks like one": Odd(
        """
from collections.abc import MutableMapping


class Folded(MutableMapping):
    def __init__(self, *args, **more):
        self._items = {}
        self.update(*args, **more)

    def __getitem__(self, key):
        return self._items[key.lower()][1]

    def __setitem__(self, key, value):
        self._items[key.lower()] = (key, value)

    def __delitem__(self, key):
        del self._items[key.lower()]

    def __iter__(self):
        return (key for key, _ in self._items.values())

    def __len__(self):
        return len(self._items)

    def __eq__(self, other):
        if not isinstance(other, (dict, Folded)):
            return NotImplemented
        return {k.lower(): v for k, v in self.items()} == {k.lower(): v for k, v in other.items()}
""",
        """
import pytest

from m import Folded


def test_case_does_not_matter():
    folded = Folded({"A": 1})
    assert folded["a"] == 1
    folded["a"] = 2
    assert list(folded) == ["a"]
    assert len(folded) == 1


def test_equal():
    assert Folded(A=1) == {"a": 1}
    assert Folded(A=1) != {"a": 2}
    assert Folded(A=1) != 3


def test_delete():
    folded = Folded(X=1)
    del folded["x"]
    assert "X" not in folded
    with pytest.raises(KeyError):
        folded["x"]
""",
    ),
}
