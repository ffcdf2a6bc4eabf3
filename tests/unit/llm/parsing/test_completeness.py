"""Elisions, defined names, unwritten functions."""

from __future__ import annotations

import pytest

from greenloop.llm.parsing.completeness import (
    find_elision,
    find_unwritten_functions,
    is_test_file,
    public_names,
    top_level_names,
)

LEFT_OUT = [
    "# rest of the code here",
    "# ... rest of the code ...",
    "# Rest of the implementation remains the same",
    "# (rest of the class is unchanged)",
    "# [rest of your code]",
    "# the rest of the module stays as before",
    "# … remaining methods unchanged …",
    "# existing code here",
    "# other methods remain unchanged",
    "# previous functions go here",
    "# your code here",
    "# Your code goes here: parse the text",
    "# implementation goes here",
    "# error handling omitted for brevity",
    "# ... existing methods ...",
    "# ...",
    "# …",
    "# <rest of the file>",
]

MAYBE_LEFT_OUT = [
    "# same as above",
    "# unchanged",
    "# rest unchanged",
    "# The rest is unchanged.",
    "# other methods",
    "# remaining tests...",
    "# etc.",
    "# and so on",
]

ORDINARY = [
    "# The rest of the file is the payload.",
    "# rest of the class hierarchy is flat",
    "# the rest of the function runs only for odd n",
    "# Same length for all rows, so zip is safe.",
    "# the same key twice is an error",
    "# Other fields are unchanged by an update.",
    "# The logic here is subtle: see Knuth.",
    "# Implementation here follows RFC 4648.",
    "# Existing code points are kept",
    "# continue with the next row",
    "# the rest goes to the last one",
    "# other tests of primality are slower",
    "# See https://example.org/…",
    "# --- helpers ---",
    "# 1, 2, ...",
]


@pytest.mark.parametrize("comment", LEFT_OUT)
@pytest.mark.parametrize("after", ["", "    return 1\n"])
def test_comment_in_place_of_code_is_found(comment: str, after: str) -> None:
    assert find_elision(f"def f():\n    x = 1\n    {comment}\n{after}") == f"line 3: {comment}"


@pytest.mark.parametrize("comment", MAYBE_LEFT_OUT)
@pytest.mark.parametrize("after", ["", "\n\ndef g():\n    return 1\n", "    pass\n", "    ...\n"])
def test_ambiguous_comment_without_code_after_it_is_found(comment: str, after: str) -> None:
    assert find_elision(f"def f():\n    x = 1\n    {comment}\n{after}") == f"line 3: {comment}"


@pytest.mark.parametrize("comment", MAYBE_LEFT_OUT)
def test_ambiguous_comment_above_code_is_a_heading(comment: str) -> None:
    assert (
        find_elision(f"class C:\n    {comment}\n\n    # more\n    def f(self):\n        return 1\n")
        is None
    )


@pytest.mark.parametrize("comment", ORDINARY)
@pytest.mark.parametrize("after", ["", "    return 1\n"])
def test_ordinary_comment_is_accepted(comment: str, after: str) -> None:
    assert find_elision(f"def f():\n    x = 1\n    {comment}\n{after}") is None


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
    [
        ("def f(): ...\nasync def g(): ...\nclass C: ...\n", ("f", "g", "C")),
        ("A = 1\nB: int = 2\nD, E = 1, 2\n", ("A", "B", "D", "E")),
        ("import os.path\nfrom re import match as m\n", ("os", "m")),
        ("try:\n    import x\nexcept ImportError:\n    y = 1\n", ("x",)),
        ("if True:\n    def f(): ...\nelse:\n    g = 1\n", ("f", "g")),
        ("def f():\n    inner = 1\n", ("f",)),
        ("def f(:\n", ()),
    ],
)
def test_top_level_names(source: str, names: tuple[str, ...]) -> None:
    assert top_level_names(source) == names


def test_name_imported_from_the_module_is_not_defined() -> None:
    source = "from roman import a\nfrom .roman import b\nfrom bisect import c\n"
    assert top_level_names(source, "roman") == ("c",)


def test_public_names_are_the_required_names() -> None:
    interface = (
        "import re\nfrom typing import TypeVar\n__all__ = ['f']\nT = TypeVar('T')\n"
        "LIMIT: int\nMODES = ('a',)\nclass C: ...\ndef f() -> None: ...\n"
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
    [
        "@overload\ndef f(x: int) -> int: ...\ndef f(x):\n    return x\n",
        "@typing.overload\ndef f(x: int) -> int: ...\n",
        "class C(Protocol):\n    def f(self): ...\n",
        "class C(typing.Protocol[T]):\n    def f(self): ...\n",
        "class C(ABC):\n    def f(self):\n        raise NotImplementedError\n",
        "class C(metaclass=ABCMeta):\n    def f(self): ...\n",
        "class C:\n    @abstractmethod\n    def f(self): ...\n",
        "class B:\n    def f(self):\n        raise NotImplementedError\nclass D(B):\n    x = 1\n",
        "class E(ValueError): ...\n",
        "def f():\n    pass\n",
        "def f(x):\n    if x:\n        raise NotImplementedError\n    return 1\n",
        "def f(:\n",
    ],
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
