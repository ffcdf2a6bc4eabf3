"""Calls on a project before and after its change: what stays, what differs, what is left out."""

import ast
from pathlib import Path

import pytest

from greenloop.project.comparison.before_after import compare_before_after, write_kept_interface
from greenloop.project.tree import ProjectTree, read_tree
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from tests.support.change_responses import copy_shop

PRICES, RATES = "src/shop/prices.py", "src/shop/rates.py"
NOISY = (
    "\n\ndef ticket(seed: int) -> float:\n    import random\n    return random.random() + seed\n"
)


@pytest.fixture
def tree(tmp_path: Path) -> ProjectTree:
    folder = copy_shop(tmp_path)
    with (folder / PRICES).open("a") as file:
        file.write(NOISY)
    with (folder / "tests" / "test_prices.py").open("a") as file:
        file.write("\n\ndef test_ticket():\n    from shop.prices import ticket\n    ticket(3)\n")
    return read_tree(folder)


def test_what_differs_is_found_but_for_touched_and_random_functions(tree: ProjectTree) -> None:
    """A changed rate shows in another module too."""
    changes = {RATES: tree.texts[RATES].replace("25", "20")}
    with open_sandbox(Settings(_env_file=None)) as box:
        found = compare_before_after(box, tree, changes, ("shop.prices.total",), "a wish", "seed")
    called = {item.call.partition("(")[0] for item in found.differences}
    assert found.inputs > 50
    assert called == {"shop.prices.gross", "shop.rates.rate_of"}


def test_what_stays_has_its_name_and_signature_and_is_not_touched() -> None:
    before = "def same(a): return 1\ndef other(a): ...\ndef _own(): ...\nclass C:\n    def m(self): ...\nclass D: ...\n"
    after = before.replace("other(a)", "other(b)").replace("1", "2") + "def new(): ...\n"

    def list_kept(*touches: str) -> list[str]:
        text = write_kept_interface("m.py", {"m.py": before}, {"m.py": after}, touches)
        return [node.name for node in ast.parse(text).body]  # type: ignore[attr-defined]

    assert list_kept() == ["same", "C", "D"]
    assert list_kept("m.same", "m.C.m") == ["D"]
    assert write_kept_interface("m.py", {"m.py": before}, {"m.py": "def ("}, ()) == ""
