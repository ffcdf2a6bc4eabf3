"""Interfaces reduced to what a second reader of the text may see."""

import ast

import pytest

from greenloop.testsuite.bare_interface import extract_interface, reduce_interface
from tests.support.programs import read_program

TEXT = (
    "price(items, rate) gives the sum of the integer prices, a list of them; rate is 7 by default."
    " later(x) gives an error."
)

INTERFACE = read_program(__file__, "INTERFACE")


def test_a_reading_in_docstring_default_annotation_import_and_value_is_left_out() -> None:
    reduced = reduce_interface(INTERFACE.replace("DOLLARS_PER_CENT", "UNIT"), TEXT)
    without_names = reduced.replace("class Dollar(", "class X(").replace("-> Dollar:", "-> X:")
    assert "dollar" not in without_names.lower()


def test_names_parameters_bases_and_what_the_text_states_are_kept() -> None:
    reduced = reduce_interface(INTERFACE, TEXT)
    assert "def price(items: list[int], rate: int=7, unit=..., *, sep=None, **rest):" in reduced
    assert "class Dollar(ValueError):" in reduced
    assert "async def later(x=...) -> Dollar:" in reduced
    assert "def main(argv) -> float:" in reduced
    assert "RATE = 7" in reduced
    assert "rate: int = 7" in reduced
    assert "unit: ... = ..." in reduced


@pytest.mark.parametrize(
    "interface",
    [
        "class Empty(Exception): ...",
        "class Empty:\n    'text'",
        "@dataclass\nclass P:\n    x: int\n    @property\n    def y(self) -> int: ...",
        "def f(*args: int, key: str = 'x', **more: bool) -> None: ...",
        "T = TypeVar('T')\ndef f(x: T) -> T: ...",
        "X: int",
        "from x import y\n",
    ],
)
def test_the_interface_of_a_text_or_of_code_is_a_stub_again(interface: str) -> None:
    reduced = reduce_interface(interface, "nothing")
    ast.parse(reduced)
    ast.parse(extract_interface(interface, "nothing"))
    assert reduce_interface(reduced, "nothing") == reduced


@pytest.mark.parametrize("named", ["def main(argv) -> int:", "def load(a, b):"])
def test_parts_that_the_text_does_not_name_keep_their_types(named: str) -> None:
    stub = f"{named}\n    ...\n"
    part = "Cut = tuple[str, int]\n\ndef cut(text: str, by: float=...) -> Cut:\n    ...\n"
    assert part + "\n" + stub == reduce_interface(part.replace("...)", "0.5)") + stub, "load it")
    assert "Cut" not in reduce_interface(part, "load it")


def test_a_word_within_another_states_nothing() -> None:
    assert (
        reduce_interface("def f(x: int = 1): ...", "into 10 strings") == "def f(x=...):\n    ...\n"
    )


def test_the_interface_of_code_has_its_public_names_and_no_body() -> None:
    code = (
        "import os\nLIMIT = 3\ndef _help(): return 1\n\n"
        "class Box(dict):\n    size = 1\n    _own = 2\n    def __init__(self, n): self.n = n\n"
        "    def _hide(self): return 4\n    def put(self, x=5): return os\n\n"
        "def f(a, b='dollars'):\n    return a\n"
    )
    assert extract_interface(code, "size 1") == (
        "class Box(dict):\n    size = 1\n\n    def __init__(self, n):\n        ...\n\n"
        "    def put(self, x=...):\n        ...\n\ndef f(a, b=...):\n    ...\n"
    )
