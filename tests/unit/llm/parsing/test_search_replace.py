"""SEARCH/REPLACE blocks."""

import pytest

from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.search_replace import SearchReplaceEdit, apply_edits, parse_edits
from tests.support.programs import read_table

SOURCE = "def f():\n    total = 0\n\n    return total\n\n\ndef g():\n    return 0\n"


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_edits_are_parsed_in_order_with_or_without_a_fence() -> None:
    first, second = block("a\n", "b\n"), block("c\nd\n", "")
    text = f"First:\n{first}Then:\n```python\n{second}```\n"
    assert parse_edits(text) == [SearchReplaceEdit("a\n", "b\n"), SearchReplaceEdit("c\nd\n", "")]


@pytest.mark.parametrize("text", ["", "SEARCH a\nREPLACE b"])
def test_text_without_edits_has_none(text: str) -> None:
    assert parse_edits(text) == []


@pytest.mark.parametrize(("heading", "mark"), [("=====\n", 7), ("=======\n", 9), ("", 5)])
def test_underlined_heading_does_not_end_search(heading: str, mark: int) -> None:
    text = block(f"Usage\n{heading}a\n", f"Usage\n{heading}b\n").replace("<" * 7, "<" * mark)
    text = text.replace("a\n=======", f"a\n{max(mark, 7) * '='}")
    edit = SearchReplaceEdit(f"Usage\n{heading}a\n", f"Usage\n{heading}b\n")
    assert parse_edits(text) == [edit]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (block("a\n", "b\n") + "<<<<<<< SEARCH\na\n=======\nb\n", "block 2 has no end"),
        (block("Example\n=======\n", "b\n"), "block 1 has 2 rows of `=`.*nine signs"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "block 1 has 0 rows"),
    ],
)
def test_edit_that_is_not_clear_is_sent_back_and_not_applied(text: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        parse_edits(text)


@pytest.mark.parametrize(
    ("search", "replace", "before", "after"),
    read_table(__file__, "APPLIED"),
    ids=["exact", "trailing blanks", "blanks on an empty line", "removal"],
)
def test_edit_is_applied(search: str, replace: str, before: str | None, after: str | None) -> None:
    expected = (
        SOURCE.replace(before, after or "")
        if before
        else SOURCE.replace("    total = 0\n\n    return total\n", "    return 1\n")
    )
    assert apply_edits(SOURCE, [SearchReplaceEdit(search, replace)]) == expected


def test_trailing_blanks_of_the_source_are_ignored() -> None:
    assert apply_edits("x = 1  \ny = 2\t\n", [SearchReplaceEdit("x = 1\ny = 2\n", "z\n")]) == "z\n"


def test_source_without_a_final_line_end_can_be_edited_at_its_end() -> None:
    assert (
        apply_edits("x = 1\ny = 2", [SearchReplaceEdit("y = 2\n", "y = 3\n")]) == "x = 1\ny = 3\n"
    )


def test_later_edits_apply_to_the_result_of_earlier_ones() -> None:
    edits = [SearchReplaceEdit("a\n", "b\nc\n"), SearchReplaceEdit("c\n", "d\n")]
    assert apply_edits("a\n", edits) == "b\nd\n"


def test_backslashes_of_a_replacement_are_literal() -> None:
    assert apply_edits("x\n", [SearchReplaceEdit("x\n", "r'\\1\\n'\n")]) == "r'\\1\\n'\n"


@pytest.mark.parametrize(
    ("search", "said"),
    read_table(__file__, "NO_MATCH"),
    ids=["absent", "middle of a line", "empty"],
)
def test_edit_that_matches_nowhere_is_invalid(search: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        apply_edits(SOURCE, [SearchReplaceEdit(search, "")])


@pytest.mark.parametrize("source", ["x = 1\nx = 1\n", "x = 1 \nx = 1\t\n"])
def test_edit_that_matches_twice_is_invalid(source: str) -> None:
    with pytest.raises(InvalidResponse, match="block 2 stands 2 times"):
        apply_edits(
            source + "y\n", [SearchReplaceEdit("y\n", "z\n"), SearchReplaceEdit("x = 1\n", "")]
        )


def test_line_with_an_equal_suffix_does_not_match() -> None:
    source = "subtotal = 0\ntotal = 0\n"
    assert (
        apply_edits(source, [SearchReplaceEdit("total = 0\n", "total = 1\n")])
        == "subtotal = 0\ntotal = 1\n"
    )
