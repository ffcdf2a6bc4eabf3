"""Model answers for one change of the project in `tests/fixtures/shop`: right ones, and mistakes."""

import json
import shutil
from pathlib import Path
from typing import Any

from greenloop.workflow.change.request import ChangeRequest
from tests.support.model_responses import fence, write_recording
from tests.support.programs import read_program

SHOP = Path(__file__).parents[1] / "fixtures" / "shop"
WISH = "total takes a discount in percent, which is taken off the sum; 0 is the default."
DISCOUNT = read_program(__file__, "DISCOUNT")
# Takes the discount off twice.
WRONG_DISCOUNT = DISCOUNT.replace("* discount", "* 2 * discount")
# Fulfils the wish, and breaks the project's own test of `gross`.
BREAKS_LOCKED = DISCOUNT + """# file: src/shop/rates.py
<<<<<<< SEARCH
RATES = {"standard": 25, "reduced": 10}
=======
RATES = {"standard": 20, "reduced": 10}
>>>>>>> REPLACE
"""
REPAIRED = """# file: src/shop/prices.py
<<<<<<< SEARCH
    return whole - whole * 2 * discount // 100
=======
    return whole - whole * discount // 100
>>>>>>> REPLACE
"""
TESTS = read_program(__file__, "TESTS")
HELD_OUT = [
    {"requirement": "R1", "call": "total([100], 10)", "returns": "113"},
    {"requirement": "R1", "call": "total([4, 4], 50)", "returns": "5"},
    {"requirement": "R1", "call": "total([], 50)", "returns": "0"},
    {"requirement": "R1", "call": "total([40], discount=100)", "returns": "0"},
]
# Another way to the same, with inputs for a comparison.
PEER = read_program(__file__, "PEER")
GREEN_TEST = '''

def test_green():
    """R1: holds already."""
    assert total([4]) == 5
'''
WRONG_TEST = '''

def test_wrong():
    """R1: contradicts the contract."""
    assert total([4], discount=50) == 7
'''


def plan_answer(**changes: Any) -> str:
    """Return the contract of the change as an answer of plan_change."""
    plan = {
        "summary": "A discount on the sum.",
        "interface": "# module: shop.prices\n"
        "def total(nets: list[int], discount: int = 0) -> int:\n"
        '    """The sum with tax, less the discount in percent."""\n    ...\n',
        "requirements": [
            {
                "id": "R1",
                "text": "total takes a discount in percent off the sum.",
                "quotes": [WISH.rstrip(".").split(";")[0]],
            }
        ],
        "keep": [
            {
                "id": "K1",
                "text": "Without a discount total is what it was.",
                "tests": ["tests/test_prices.py::test_total"],
            }
        ],
        "touches": ["shop.prices.total"],
        "fence": ["src/shop/*.py"],
        "background": [{"quote": "0 is the default.", "reason": "in the interface"}],
    }
    return fence(json.dumps({**plan, **changes}), "json")


def answer_with_tests(tests: str) -> str:
    """Return test files with held-out examples as an answer of write_change_tests."""
    return f"{fence(tests)}\n{fence(json.dumps(HELD_OUT), 'json')}"


def change_answers(**changes: list[Any]) -> dict[str, list[Any]]:
    """Return the answers of a successful change by tool; `changes` replaces those of a tool."""
    located = {"files": ["src/shop/prices.py"], "why": "total is there"}
    good: dict[str, list[Any]] = {
        "locate_change": [fence(json.dumps(located), "json")],
        "plan_change": [plan_answer()],
        "review_code": ["- B1: asks for nothing"],
        "write_change_tests": [answer_with_tests(TESTS)],
        "write_change": [f"The discount is taken off.\n\n{DISCOUNT}"],
        "repair_change": [],
        "judge_test": [],
    }
    return {**good, **changes}


def write_replay(**changes: list[Any]) -> str:
    """Write the answers as a recording, and return its name as a model."""
    return write_recording(change_answers(**changes))


def copy_shop(folder: Path) -> Path:
    """Copy the project, and return its folder."""
    return Path(shutil.copytree(SHOP, folder / "shop"))


def change_request(folder: Path, **fields: Any) -> ChangeRequest:
    """Return a request for the change in a copy of the project."""
    root = folder / "shop" if (folder / "shop").exists() else copy_shop(folder)
    return ChangeRequest(**{"specification": WISH, "root": str(root), **fields})
