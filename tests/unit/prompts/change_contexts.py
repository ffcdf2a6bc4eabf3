"""Variables of the prompts for changes of a project."""

from __future__ import annotations

from typing import Any

from greenloop.prompts.failure_context import ShownFailure
from greenloop.records import Background, Choice, Contract, KeptBehaviour, Requirement, Survivor
from greenloop.tools.shown_project import ShownFile, ShownTest

WISH = "\ntotal takes a discount {{ please }}.\n\n"
BARE = Contract(
    module="project",
    summary="A discount.",
    interface="# module: shop.prices\ndef total(nets, discount=0): ...\n",
    requirements=(Requirement(id="R1", text="total takes a discount."),),
)
FULL = BARE.model_copy(
    update={
        "requirements": (*BARE.requirements, Requirement(id="R2", text="-1 raises ValueError.")),
        "keep": (KeptBehaviour(id="K1", text="total([]) == 0"),),
        "assumptions": ("The discount is an int.",),
        "choices": (Choice(id="C1", question="Rounded down?", chosen="total([1], 50) -> 1"),),
        "packages": ("attrs",),
    }
)
PRICES = ShownFile("src/shop/prices.py", "def total(nets):\n    return sum(nets)\n")
LARGE = ShownFile("src/shop/rates.py", "def rates():\n    ...  # 90 lines are left out\n", 1)
TEST = ShownTest("tests/test_a.py::test_sum", "def test_sum():\n    assert total([1]) == 1\n")
MAP = "src/shop/prices.py:\n  def total(nets)\n"
FAILURE = ShownFailure("test_a.py::test_x", "AssertionError", "assert 1 == 2", "def test_x(): ...")
SURVIVOR = Survivor(
    id="src/shop/prices.py:M1",
    path="src/shop/prices.py",
    line=2,
    function="total",
    operator="boundary",
    diff="@@ -1,2 +1,2 @@\n def total(nets, discount=0):\n-    if discount > 0:\n+    if discount >= 0:\n",
    question="What does total do where discount is 0?",
    reached=False,
)
PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2\n"

CHANGES: dict[str, dict[str, Any]] = {
    "locate_change.minimal": {"wish": WISH, "map": MAP, "files": (), "may_need": True},
    "locate_change.rich": {"wish": WISH, "map": MAP, "files": (PRICES, LARGE), "may_need": False},
    "plan_change.minimal": {
        "wish": WISH,
        "fence": (),
        "unlocked": (),
        "given_tests": "",
        "available_packages": (),
        "is_new": True,
        "files": (),
        "context": "",
        "tests": (),
        "omitted_tests": 0,
    },
    "plan_change.rich": {
        "wish": WISH,
        "fence": ("src/*.py", "docs/*"),
        "unlocked": ("tests/test_a.py::test_b",),
        "given_tests": "def test_c():\n    assert total([1], 50) == 0\n",
        "available_packages": ("attrs",),
        "is_new": False,
        "files": (PRICES, LARGE),
        "context": "src/shop/tax.py:\n  def tax(net)\n",
        "tests": (TEST,),
        "omitted_tests": 4,
    },
    "review_background.minimal": {
        "wish": WISH,
        "contract": BARE,
        "doubtful_background": (Background(quote="It must be soon."),),
    },
    "review_background.rich": {
        "wish": WISH,
        "contract": FULL,
        "doubtful_background": (
            Background(quote="It must be soon.", reason="a hurry"),
            Background(quote="We have 3 shops.", reason="a fact"),
        ),
    },
    "write_change_tests.minimal": {
        "wish": WISH,
        "contract": BARE,
        "untested": (),
        "unlocked": (),
        "signatures": "",
        "test_files": (),
        "files": (),
        "complaints": (),
        "previous": (),
        "keep_held_out": False,
    },
    "write_change_tests.rich": {
        "wish": WISH,
        "contract": FULL,
        "untested": ("K1",),
        "unlocked": ("tests/test_a.py::test_b",),
        "signatures": MAP,
        "test_files": ("tests/conftest.py", "tests/test_a.py"),
        "files": (ShownFile("tests/test_a.py", TEST.source),),
        "complaints": ("No test names R2.",),
        "previous": (ShownFile("tests/test_b.py", "def test_y():\n    assert 1\n"),),
        "keep_held_out": True,
    },
    "harden_change_tests.minimal": {
        "contract": BARE.model_copy(update={"module": "shop.prices"}),
        "path": "tests/test_a.py",
        "suite": TEST.source,
        "survivors": (SURVIVOR,),
        "missed": ("mutants: score 50% (at least 80%)",),
        "omitted": 0,
    },
    "harden_change_tests.rich": {
        "contract": FULL.model_copy(update={"module": "shop.prices"}),
        "path": "tests/test_a.py",
        "suite": TEST.source,
        "survivors": (SURVIVOR, SURVIVOR.model_copy(update={"reached": True})),
        "missed": ("mutants: score 50% (at least 80%)", "lines: 85% (at least 90%)"),
        "omitted": 3,
    },
    "write_change.minimal": {
        "wish": WISH,
        "contract": BARE,
        "fence": ("src/*.py",),
        "python_version": "3.11",
        "files": (),
        "context": "",
        "failed_approaches": (),
    },
    "write_change.rich": {
        "wish": WISH,
        "contract": FULL,
        "fence": ("src/*.py", "docs/*"),
        "python_version": "3.11",
        "files": (PRICES, LARGE),
        "context": MAP,
        "failed_approaches": ("A loop: 2 failing.",),
    },
    "write_change_peer.minimal": {
        "wish": WISH,
        "interface": "# module: shop.prices\ndef total(nets, discount=0): ...\n",
        "names": ("total",),
        "choices": (),
        "fence": ("src/*.py",),
        "python_version": "3.11",
        "files": (),
        "context": "",
    },
    "write_change_peer.rich": {
        "wish": WISH,
        "interface": "# module: shop.prices\ndef total(nets, discount=...): ...\nclass Tax: ...\n",
        "names": ("total", "Tax"),
        "choices": FULL.choices,
        "fence": ("src/*.py", "docs/*"),
        "python_version": "3.11",
        "files": (PRICES, LARGE),
        "context": MAP,
    },
    "repair_change.minimal": {
        "contract": BARE,
        "fence": ("src/*.py",),
        "python_version": "3.11",
        "files": (PRICES,),
        "code": PATCH,
        "summary": "0 tests passed, 1 did not.",
        "failures": (FAILURE,),
        "omitted": 0,
        "history": (),
        "rulings": (),
    },
    "repair_change.rich": {
        "contract": FULL,
        "fence": ("src/*.py",),
        "python_version": "3.11",
        "files": (PRICES, LARGE),
        "code": PATCH,
        "summary": "3 tests passed, 6 did not.",
        "failures": (FAILURE,),
        "omitted": 5,
        "history": ("generate: 2 failing",),
        "rulings": ("test_x stands: R1",),
    },
}
