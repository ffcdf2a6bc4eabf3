"""Hidden tests of examples/eval/tasks.jsonl: the model never sees them."""

import pytest

from roman_numerals import from_roman, to_roman


@pytest.mark.parametrize(("number", "text"), [(4, "IV"), (944, "CMXLIV"), (3999, "MMMCMXCIX")])
def test_there_and_back(number, text):
    assert to_roman(number) == text
    assert from_roman(text.lower()) == number


def test_all_of_them():
    assert all(from_roman(to_roman(number)) == number for number in range(1, 4000))


@pytest.mark.parametrize("text", ["", "IC", "VV", "IIX", "MMMM", " X"])
def test_refused(text):
    with pytest.raises(ValueError):
        from_roman(text)
