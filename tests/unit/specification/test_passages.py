"""Passages of a text: words, blocks, and quotes in them."""

import time

import pytest

from greenloop.specification.passages import index_text, list_words
from tests.support.programs import read_program, read_table

TEXT = read_program(__file__, "TEXT")


def blocks(text: str) -> list[tuple[str, str]]:
    index = index_text(text)
    return [(item.kind, index.excerpt(item.first, item.end)) for item in index.blocks]


def test_text_is_split_into_blocks() -> None:
    assert blocks(TEXT) == [
        ("heading", "Word wrap"),
        ("sentence", "Hello there"),
        ("sentence", "Wrap “long” lines, e.g. at 70; see the [docs]"),
        ("sentence", "It’s for *people*"),
        ("item", "quoted item with more"),
        ("item", "a bold item. Two sentences"),
        ("item", "next"),
        ("heading", "name | age"),
        ("row", "Ann | 3"),
        ("code", "def f(x): ... y = 2"),
        ("code", 'f("a. B") 2'),
    ]


@pytest.mark.parametrize(("text", "kinds"), read_table(__file__, "SHAPES_TEXT"))
def test_shapes_of_text(text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in blocks(text)] == kinds


@pytest.mark.parametrize("quote", read_table(__file__, "QUOTE_FOUND"))
def test_quote_is_found(quote: str) -> None:
    index = index_text(TEXT)
    found = index.find(quote)
    assert found
    words = [index.words[number].text for number in found]
    assert words == list_words(quote)


@pytest.mark.parametrize(
    "quote",
    ["", "…", "Wrap long … at 70", "at 7", "rap long"],
)
def test_quote_is_not_found(quote: str) -> None:
    assert index_text(TEXT).find(quote) is None


def test_numbers_and_comparisons_count() -> None:
    assert list_words("k < 0 → -1, 1,5 or 2.50; k >= −3: x-1, 10k") == (
        "k < 0 → -1 1,5 or 2.50 k >= -3 x 1 10k".split()
    )
    assert index_text("Refuse k < 1.").find("k > 1") is None


def test_forms_of_the_same_text_are_equal() -> None:
    index = index_text("\ufeffDie Gr\u0075\u0308n- und\r\nBlaut\u00f6ne „zählen“, it’s _so_.\r\n")
    assert index.find('Die Grün- und Blautöne "zählen"') == range(5)
    assert index.find("It's so") == range(5, 7)


def test_repeated_quote_is_found_at_the_next_place() -> None:
    index = index_text("- None is an error\n- x\n- None is an error\n")
    found = [index.find("None is an error", taken) for taken in ((), range(4), range(9))]
    assert found == [range(4), range(5, 9), range(4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "word other. Next " * 17000,
        "```x\n~~~\n" * 25000,
        "1.1." * 50000 + "a",
        ". " * 50000,
        "| a\n" * 25000,
        "- a\n" * 25000,
        "](" * 50000,
        "> " * 50000,
        "'a" * 50000,
        ("." + " " * 3000 + "a\n") * 50,
        "**" * 50000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_long_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    index = index_text(text)
    assert index.find("zzz b") is None
    assert time.process_time() - started < 20
