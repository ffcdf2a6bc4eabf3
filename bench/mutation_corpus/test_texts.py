import pytest
from texts import counted, shortened, slug, table, title, wrap


def test_slug_joins_words():
    assert slug("Hello, big World!") == "hello-big-world"


def test_slug_keeps_digits():
    assert slug("Route 66 & more") == "route-66-more"


def test_slug_of_nothing():
    assert slug("?!") == ""


def test_slug_is_cut():
    assert slug("one two three", 9) == "one-two-t"


def test_slug_never_ends_in_a_hyphen():
    assert slug("one two three", 8) == "one-two"


def test_slug_of_one_character():
    assert slug("one", 1) == "o"


def test_slug_of_no_length():
    with pytest.raises(ValueError):
        slug("one", 0)


def test_title_keeps_small_words():
    assert title("the LORD of the rings") == "The Lord of the Rings"


def test_title_begins_and_ends_with_capitals():
    assert title("of mice and") == "Of Mice And"


def test_wrap_fits_exactly():
    assert wrap("one two three four", 7) == ["one two", "three", "four"]


def test_wrap_one_too_narrow():
    assert wrap("one two", 6) == ["one", "two"]


def test_wrap_cuts_long_words():
    assert wrap("ab abcdefgh c", 3) == ["ab", "abc", "def", "gh", "c"]


def test_wrap_fills_after_a_cut():
    assert wrap("abcdef g", 4) == ["abcd", "ef g"]


def test_wrap_of_nothing():
    assert wrap("  ", 5) == []


def test_wrap_at_one():
    assert wrap("ab", 1) == ["a", "b"]
    with pytest.raises(ValueError):
        wrap("ab", 0)


def test_shortened_leaves_short_text():
    assert shortened("hello", 5) == "hello"


def test_shortened_at_a_word():
    assert shortened("hello big world", 12) == "hello big..."
    assert shortened("hello big world", 11) == "hello..."


def test_shortened_within_a_word():
    assert shortened("incomprehensible", 8, "~") == "incompr~"


def test_shortened_to_less_than_the_mark():
    assert shortened("hello", 2) == ".."
    assert shortened("hello", 4) == "h..."


def test_table_aligns():
    assert table([["a", "bb", "c"], ["aaa", "b"]]) == "a    bb  c\naaa  b"
    assert table([["a", "b"]], gap=1) == "a b"
    assert table([]) == ""


def test_counted_in_order():
    found = counted("The cat and the dog. Don't, cat; the end")
    assert list(found.items())[:3] == [("the", 3), ("cat", 2), ("and", 1)]
    assert found["don't"] == 1
