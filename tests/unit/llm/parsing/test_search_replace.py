"""SEARCH/REPLACE blocks."""

from __future__ import annotations

import pytest

from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.search_replace import SearchReplaceEdit, apply_edits, parse_edits

SOURCE = "def f():\n    total = 0\n\n    return total\n\n\ndef g():\n    return 0\n"


def block(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_edits_are_read_in_order_with_or_without_a_fence() -> None:
    first, second = block("a\n", "b\n"), block("c\nd\n", "")
    text = f"First:\n{first}Then:\n```python\n{second}```\n"
    assert parse_edits(text) == [SearchReplaceEdit("a\n", "b\n"), SearchReplaceEdit("c\nd\n", "")]


@pytest.mark.parametrize("text", ["", "SEARCH a\nREPLACE b", "<<<<<<< SEARCH\na\n=======\nb\n"])
def test_half_an_edit_is_none(text: str) -> None:
    assert parse_edits(text) == []


@pytest.mark.parametrize(
    ("search", "replace", "before", "after"),
    [
        ("    total = 0\n", "    total = 1\n", "total = 0", "total = 1"),
        ("    total = 0   \n\n    return total\t\n", "    return 1\n", None, None),
        ("    total = 0\n    \n    return total\n", "    return 1\n", None, None),
        ("def g():\n    return 0\n", "", "def g():\n    return 0\n", ""),
    ],
    ids=["exact", "trailing blanks", "blanks on an empty line", "removal"],
)
def test_an_edit_is_applied(
    search: str, replace: str, before: str | None, after: str | None
) -> None:
    expected = (
        SOURCE.replace(before, after or "")
        if before
        else SOURCE.replace("    total = 0\n\n    return total\n", "    return 1\n")
    )
    assert apply_edits(SOURCE, [SearchReplaceEdit(search, replace)]) == expected


def test_blanks_at_line_ends_of_the_source_do_not_matter() -> None:
    assert apply_edits("x = 1  \ny = 2\t\n", [SearchReplaceEdit("x = 1\ny = 2\n", "z\n")]) == "z\n"


def test_a_source_without_a_last_line_end_can_be_edited_at_its_end() -> None:
    assert (
        apply_edits("x = 1\ny = 2", [SearchReplaceEdit("y = 2\n", "y = 3\n")]) == "x = 1\ny = 3\n"
    )


def test_later_edits_see_what_earlier_ones_made() -> None:
    edits = [SearchReplaceEdit("a\n", "b\nc\n"), SearchReplaceEdit("c\n", "d\n")]
    assert apply_edits("a\n", edits) == "b\nd\n"


def test_backslashes_of_a_replacement_are_no_escapes() -> None:
    assert apply_edits("x\n", [SearchReplaceEdit("x\n", "r'\\1\\n'\n")]) == "r'\\1\\n'\n"


@pytest.mark.parametrize(
    ("search", "said"),
    [
        ("    total = 2\n", "SEARCH block 1 does not stand in the code"),
        ("return 0\n", "does not stand"),
        ("\n", "SEARCH block 1 is empty"),
    ],
    ids=["absent", "middle of a line", "empty"],
)
def test_an_edit_that_fits_nowhere_is_unusable(search: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        apply_edits(SOURCE, [SearchReplaceEdit(search, "")])


@pytest.mark.parametrize("source", ["x = 1\nx = 1\n", "x = 1 \nx = 1\t\n"])
def test_an_edit_that_fits_twice_is_unusable(source: str) -> None:
    with pytest.raises(InvalidResponse, match="block 2 stands 2 times"):
        apply_edits(
            source + "y\n", [SearchReplaceEdit("y\n", "z\n"), SearchReplaceEdit("x = 1\n", "")]
        )


def test_a_line_that_ends_alike_is_not_taken_for_the_one_searched() -> None:
    source = "subtotal = 0\ntotal = 0\n"
    assert (
        apply_edits(source, [SearchReplaceEdit("total = 0\n", "total = 1\n")])
        == "subtotal = 0\ntotal = 1\n"
    )
