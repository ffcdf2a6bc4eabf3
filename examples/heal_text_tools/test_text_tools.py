import pytest
from text_tools import most_common, slug, table, words, wrap


def test_words_keep_their_apostrophes():
    assert words("Don't stop, DON'T! 'quoted'") == ["don't", "stop", "don't", "quoted"]


def test_most_common_counts():
    assert most_common("b a b c b a", 2) == [("b", 3), ("a", 2)]


def test_most_common_breaks_ties_by_the_alphabet():
    assert most_common("pear fig apple fig pear") == [("fig", 2), ("pear", 2), ("apple", 1)]


def test_most_common_of_nothing():
    assert most_common("") == []


def test_slug():
    assert slug("  Crème brûlée, twice! ") == "creme-brulee-twice"


def test_a_long_slug_is_cut_at_a_hyphen():
    assert slug("one two three four", longest=10) == "one-two"
    assert slug("incomprehensibilities", longest=5) == "incom"


def test_wrap_keeps_the_width():
    assert wrap("aa bb cc dd", 5) == "aa bb\ncc dd"
    assert wrap("aaa bb c", 5) == "aaa\nbb c"


def test_wrap_counts_the_blank():
    assert wrap("abc de", 5) == "abc\nde"


def test_wrap_leaves_a_long_word_whole():
    assert wrap("a incomprehensible b", 6) == "a\nincomprehensible\nb"


def test_wrap_keeps_paragraphs_apart():
    assert wrap("one two\n\n\nthree", 7) == "one two\n\nthree"


def test_wrap_refuses_no_width():
    with pytest.raises(ValueError):
        wrap("a", 0)


def test_table():
    assert table([("a", 1), ("bcd", 20)]) == "a     1\nbcd  20"
    assert table([]) == ""
