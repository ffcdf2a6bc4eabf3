"""The map of a project: what is found, who reads it, and what comes first within a budget."""

import time

import pytest

from greenloop.project.changed_lines import find_changed_lines
from greenloop.project.code_map import build_code_map, list_signatures
from greenloop.project.code_map.index import build_index
from greenloop.project.code_map.modules import Import, split_words
from greenloop.project.code_map.ranking import rank
from greenloop.testsuite.merge import append_tests
from greenloop.testsuite.used_definitions import show_with_definitions
from tests.support.programs import read_programs

SHOP = read_programs(__file__, "SHOP")


def test_reads_are_resolved_through_imports_and_reexports() -> None:
    index = build_index(SHOP)
    readers = index.readers
    rate = ("src/shop/rates.py", "find_rate")
    assert readers[rate] == {
        ("src/shop/prices.py", "total"),
        ("src/shop/cart.py", "Cart.checkout"),
    }
    test = ("tests/test_cart.py", "test_discount_voucher")
    assert index.edges[test] == {
        ("src/shop/cart.py", "Cart"),
        ("src/shop/cart.py", "Cart.checkout"),
        ("src/shop/prices.py", "total"),
    }


def test_a_module_in_a_package_is_not_what_a_top_level_import_means() -> None:
    index = build_index(SHOP)
    assert index.find_module("src/shop/prices.py", Import("json", 0, "", "json")) is None
    assert index.find_module("src/shop/prices.py", Import("json", 1, "x", "x"))


def test_the_map_shows_signatures_docstrings_readers_and_tests() -> None:
    found = build_code_map(SHOP, "", 2000).split("\n")
    head = "src/shop/prices.py — Prices of goods. [imports: src/shop/rates.py] [tests: tests/test_cart.py]"
    assert head in found
    assert "  LIMIT: int = 3" in found
    shown = "  def total(items, *, rate='reduced') -> int  # Return the sum of all items."
    assert f"{shown}  <- src/shop/cart.py:Cart.amount" in found
    assert "  class Cart(dict): owner  # A cart of goods." in found
    assert "    @property def amount(self) -> int  <- Cart.checkout" in found
    assert "setup.py (does not parse)" in found
    assert not any("test_discount" in line for line in found)


@pytest.mark.parametrize(
    ("wish", "first"),
    [
        ("Rates: `find_rate` shall know zero", "src/shop/rates.py"),
        ("the carts' checkout is wrong", "src/shop/cart.py"),
        ('File "/home/x/src/shop/prices.py", line 13, in total\nTypeError', "src/shop/prices.py"),
        ("shop.json cannot load", "src/shop/json.py"),
        ("a discount by voucher", "src/shop/cart.py"),  # a test has these words
    ],
)
def test_what_the_wish_says_comes_first(wish: str, first: str) -> None:
    assert build_code_map(SHOP, wish, 2000).split("\n")[0].split(" ")[0] == first


def test_what_is_near_by_imports_comes_before_what_is_not() -> None:
    texts = {**SHOP, "src/shop/aside.py": "def other(): ...\n"}
    ranking = rank(build_index(texts), "find_rate")
    assert ranking.modules["src/shop/prices.py"] > ranking.modules["src/shop/aside.py"]


@pytest.mark.parametrize("tokens", [0, 20, 60, 150, 400])
def test_the_map_keeps_to_its_budget_and_says_what_is_left_out(tokens: int) -> None:
    many = {
        f"pkg/m{at}.py": "".join(f"def f{at}_{n}(): ...\n" for n in range(9)) for at in range(30)
    }
    found = build_code_map(many, "f7_3", tokens)
    assert len(found) <= max(tokens * 4, 20)
    assert found.endswith("more files")
    if tokens >= 60:
        assert found.startswith("pkg/m7.py\n")
        assert "\n  def f7_3()" in found


def test_the_map_is_the_same_whatever_the_order_of_files() -> None:
    found = build_code_map(SHOP, "find_rate and Cart", 3000)
    assert found == build_code_map(dict(reversed(SHOP.items())), "find_rate and Cart", 3000)


@pytest.mark.slow
def test_a_project_of_300_files_takes_seconds() -> None:
    texts = {
        f"pkg/m{at}.py": f"from pkg import m{at // 2}\n"
        + "".join(f"def f{n}(a, b):\n    return m{at // 2}.f{n}(a) + b\n\n" for n in range(10))
        for at in range(300)
    }
    started = time.process_time()
    assert build_code_map(texts, "f3 and m20", 3000)
    assert time.process_time() - started < 10


def test_wish_with_a_long_log_does_not_stall_a_change() -> None:
    index = build_index({"m.py": "".join(f"def f{n}(): ...\n" for n in range(900))})
    log = "".join(f"2026-01-02 INFO request {n} path=/srv/app/items\n" for n in range(1200))
    started = time.process_time()
    found = rank(index, f'{log}  File "/srv/m.py", line 7, in x\n').definitions
    assert found["m.py", "f6"] > found["m.py", "f7"]
    assert time.process_time() - started < 4


def test_signatures_of_files_and_of_what_they_import() -> None:
    assert list_signatures(SHOP, ["src/shop/rates.py"]) == (
        "src/shop/rates.py:\n  def find_rate(name)"
    )
    assert list_signatures(SHOP, ["src/shop/prices.py"], imported=True) == (
        "src/shop/rates.py:\n  def find_rate(name)"
    )
    guessed = {
        **SHOP,
        "src/shop/rates.py": "import unicodedata\n\n\ndef clean(x):\n    x.checkout()\n",
    }
    assert list_signatures(guessed, ["src/shop/rates.py"], imported=True) == ""
    assert "_unused" not in list_signatures(SHOP, ["src/shop/prices.py"])
    assert list_signatures(SHOP, ["new.py"]) == ""
    many = {"a.py": "".join(f"def function_{n}(): ...\n" for n in range(900))}
    assert len(list_signatures(many, ["a.py"])) < 8100


def test_a_property_and_an_overloaded_function_are_shown_once() -> None:
    head = "class Table:\n    @property\n    def border(self) -> bool: ...\n"
    setter = "    @border.setter\n    def border(self, value): ...\n"
    text = f"{head}{setter}@overload\ndef item(a: int): ...\ndef item(a): ...\n"
    lines = list_signatures({"t.py": text}, ["t.py"]).split("\n")[1:]
    assert lines == ["  class Table", "    @property def border(self) -> bool", "  def item(a)"]


def test_words_of_identifiers_have_their_stems() -> None:
    assert split_words("cachedItems_HTTPCaches") == ("cach", "item", "http", "cach")
    assert split_words("_size2") == split_words("sized2")


def test_a_deeply_nested_file_is_named_alone() -> None:
    nested = "x = " + "(a." * 60 + "b" + ")" * 60 + "\ndef f(a=" + "-" * 900 + "1): ...\n"
    found = build_code_map({"deep.py": nested, "table.py": f"T = {list(range(20_000))}\n"}, "", 500)
    assert "table.py\n  T = [0, 1, 2" in found
    assert "deep.py" in found


def test_a_file_with_unusual_line_ends_is_read_as_python_does() -> None:
    text = "A = 1\r\r\nB = 2\r\r\ndef test_c():\r    assert A\r\r\n"
    assert "  B = 2" in build_code_map({"m.py": text}, "", 2000)
    assert show_with_definitions(text, "test_c") == "A = 1\ndef test_c():\n    assert A"
    assert find_changed_lines(text, text.replace("t A", "t B")) == ({6}, {6})
    assert append_tests(text, "import os\n\n\nx = os\n").startswith("import os\nA = 1\r\r\nB")
