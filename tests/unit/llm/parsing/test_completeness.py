"""Elisions, defined names, unwritten functions."""

import pytest

from greenloop.llm.parsing.completeness import (
    find_elision,
    find_unwritten_functions,
    is_test_file,
    public_names,
    top_level_names,
)
from tests.support.programs import read_table

LEFT_OUT = [
    "# rest of the code here",
    "# ... rest of the code ...",
    "# Rest of the implementation remains the same",
    "# [rest of your code]",
    "# … remaining methods unchanged …",
    "# previous functions go here",
    "# Your code goes here: parse the text",
    "# error handling omitted for brevity",
    "# …",
]
# Left out where no code follows, and a heading where some does.
AMBIGUOUS = [
    "# same as above",
    "# The rest is unchanged.",
    "# remaining tests...",
    "# and so on",
    "# the rest of the file",
    "# Remainder of the code",
]
ORDINARY = [
    "# The rest of the file is the payload.",
    "# the rest of the function runs only for odd n",
    "# Other fields are unchanged by an update.",
    "# Implementation here follows RFC 4648.",
    "# continue with the next row",
    "# See https://example.org/…",
    "# 1, 2, ...",
]


def find(comment: str, after: str) -> str | None:
    """Return what is found in a function whose second line is the comment."""
    return find_elision(f"def f():\n    x = 1\n    {comment}\n{after}")


@pytest.mark.parametrize("comment", LEFT_OUT)
def test_comment_in_place_of_code_is_found(comment: str) -> None:
    assert find(comment, "") == find(comment, "    return 1\n") == f"line 3: {comment}"


@pytest.mark.parametrize("comment", AMBIGUOUS)
def test_ambiguous_comment_is_found_unless_code_follows(comment: str) -> None:
    for after in ("", "\n\ndef g():\n    return 1\n", "    pass\n", "    ...\n"):
        assert find(comment, after) == f"line 3: {comment}"
    method = "    def f(self):\n        return 1\n"
    assert find_elision(f"class C:\n    {comment}\n\n    # more\n{method}") is None


@pytest.mark.parametrize("comment", ORDINARY)
def test_ordinary_comment_is_accepted(comment: str) -> None:
    assert find(comment, "") is find(comment, "    return 1\n") is None


@pytest.mark.parametrize(
    "source",
    [
        "x = 1  # rest of the code here\n",
        's = "# rest of the code here"\n',
        'def f():\n    """\n    # rest of the code here\n    """\n',
    ],
    ids=["behind code", "in a string", "in a docstring"],
)
def test_only_a_comment_alone_on_its_line_replaces_code(source: str) -> None:
    assert find_elision(source) is None


def test_elision_is_found_in_code_that_does_not_parse() -> None:
    assert (
        find_elision("# rest of the code here\ndef f(:\n    (") == "line 1: # rest of the code here"
    )


@pytest.mark.parametrize(
    ("source", "names"),
    read_table(__file__, "NAMES"),
)
def test_top_level_names(source: str, names: list[str]) -> None:
    assert list(top_level_names(source)) == names


def test_name_imported_from_the_module_is_not_defined() -> None:
    source = "from roman import a\nfrom .roman import b\nfrom bisect import c\n"
    assert top_level_names(source, "roman") == ("c",)


def test_public_names_are_the_required_names() -> None:
    interface = (
        "import re\nfrom typing import TypeVar\n__all__ = ['f']\nT = TypeVar('T')\n"
        "LIMIT: int\nMODES = ('a',)\nRow = tuple[int, str]\nclass C: ...\n"
        "def f(c: C) -> list[Row]: ...\n"
    )
    assert public_names(interface) == ("LIMIT", "MODES", "C", "f")


@pytest.mark.parametrize(
    "body",
    ["...", "raise NotImplementedError", 'raise NotImplementedError("f")', '"""Doc."""\n    ...'],
)
def test_unwritten_function_is_named(body: str) -> None:
    source = (
        f"def f():\n    {body}\n\nclass C:\n    async def g(self): ...\n\ndef h():\n    return 1\n"
    )
    assert find_unwritten_functions(source) == ("f", "g")


@pytest.mark.parametrize(
    "source",
    read_table(__file__, "EMPTY"),
)
def test_legitimately_empty_body_is_not_unwritten(source: str) -> None:
    assert find_unwritten_functions(source) == ()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def test_a(): ...\n", True),
        ("class TestA:\n    def test_a(self): ...\n", True),
        ("class TestRun:\n    x = 1\n", False),
        ("def f(): ...\n", False),
    ],
)
def test_test_files_are_distinguished_from_modules(source: str, expected: bool) -> None:
    assert is_test_file(source) is expected
