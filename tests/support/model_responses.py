"""Model answers for one small specification: right ones, and common mistakes."""

import json
import re
from pathlib import Path
from typing import Any

from greenloop.specification.passages import split_passages
from tests.support.programs import read_program

SPECIFICATION = "Write top_k(xs, k): the k largest numbers, largest first; k < 0 is a ValueError."
QUOTES = ("the k largest numbers, largest first", "k < 0 is a ValueError")

INTERFACE = '''def top_k(xs: list[int], k: int) -> list[int]:
    """The k largest numbers of xs, largest first. Raises ValueError for k < 0."""
    ...
'''
GOOD_CODE = '''def top_k(xs: list[int], k: int) -> list[int]:
    """The k largest numbers of xs, largest first."""
    if k < 0:
        raise ValueError("k must not be negative")
    return sorted(xs, reverse=True)[:k]
'''
# Wrong order, and no ValueError: two mistakes.
WRONG_CODE = '''def top_k(xs: list[int], k: int) -> list[int]:
    """The k largest numbers of xs, largest first."""
    return sorted(xs)[:k]
'''
# One mistake fewer than WRONG_CODE.
BETTER_CODE = '''def top_k(xs: list[int], k: int) -> list[int]:
    """The k largest numbers of xs, largest first."""
    return sorted(xs, reverse=True)[:k]
'''
GOOD_TESTS = read_program(__file__, "GOOD_TESTS")
WRONG_TEST = '''

def test_wrong():
    """R1: contradicts the contract."""
    assert top_k([1, 2, 3], 1) == [1]
'''
# Written otherwise than GOOD_CODE, with the same answers.
PEER_CODE = read_program(__file__, "PEER_CODE")
PEER_INPUTS = """def inputs(rng):
    for size in range(60):
        yield [rng.randrange(-9, 10) for _ in range(size % 8)], rng.randrange(-2, 10)


def allowed(xs, k):
    return all(type(item) is int for item in (*xs, k))
"""
HELD_OUT = [
    {"requirement": "R1", "call": "top_k([5, 9, 7], 2)", "returns": "[9, 7]"},
    {"requirement": "R1", "call": "top_k([3], 1)", "returns": "[3]"},
    {"requirement": "R1", "call": "top_k([4, 4, 1], 2)", "returns": "[4, 4]"},
    {"requirement": "R2", "call": "top_k([], -2)", "raises": "ValueError"},
]


def contract_answer(text: str = "", **changes: Any) -> str:
    """Return the contract as an answer of parse_specification.

    It quotes SPECIFICATION, or every passage of another text.
    """
    contract = {
        "module": "topk",
        "summary": "The k largest numbers.",
        "interface": INTERFACE,
        "requirements": [
            {
                "id": "R1",
                "text": "top_k returns the k largest numbers, largest first.",
                "quotes": split_passages(text) or QUOTES[:1],
            },
            {
                "id": "R2",
                "text": "k < 0 raises ValueError.",
                "quotes": split_passages(text)[:1] or QUOTES[1:],
            },
        ],
        "assumptions": ["fewer than k numbers: all of them"],
        "packages": [],
    }
    return fence(json.dumps({**contract, **changes}), "json")


def get_shown_text(prompt: str) -> str:
    """Return the specification that a prompt shows."""
    found = re.search(r"<specification>\n(.*?)\n</specification>", prompt, re.DOTALL)
    return found[1] if found else ""


def fence(text: str, language: str = "python") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def suite_answer(code: str = GOOD_TESTS, held_out: list[dict[str, str]] | None = None) -> str:
    """Return a pytest file with its held-out examples as an answer of generate_tests."""
    return (
        fence(code) + "\n\n" + fence(json.dumps(HELD_OUT if held_out is None else held_out), "json")
    )


def peer_answer(code: str = PEER_CODE, inputs: str = PEER_INPUTS) -> str:
    """Return a second implementation and its inputs as an answer of write_peer."""
    return f"{fence(code)}\n\n{fence(inputs)}"


def rulings_answer(*rulings: tuple[str, str | None]) -> str:
    """Return rulings, each with what is expected, as an answer of judge_difference."""
    entries = [
        {
            "id": number,
            "right": right,
            "because": 'The text says "largest first".',
            "expected": expected,
        }
        for number, (right, expected) in enumerate(rulings, 1)
    ]
    return fence(json.dumps(entries), "json")


def answers(**changes: list[Any]) -> dict[str, list[Any]]:
    """Return the answers of a successful run by tool; `changes` replaces those of a tool."""
    good: dict[str, list[Any]] = {
        "parse_specification": [contract_answer()],
        "generate_code": [fence(GOOD_CODE)],
        "generate_tests": [suite_answer()],
        "review_code": ["LGTM"],
        "repair_code": [],
        "judge_test": [],
        "write_peer": [peer_answer()],
        "judge_difference": [],
    }
    return {**good, **changes}


WRONG_SUITE = suite_answer(GOOD_TESTS + WRONG_TEST)
DISPUTE = "DISPUTE test_wrong: R1 demands [3]"
TEST_IS_WRONG = fence('{"wrong": "test", "because": "R1 demands [3]"}', "json")


def script(code: str = WRONG_CODE, *repairs: str, **changes: list[str]) -> dict[str, list[object]]:
    """Return answers with this first code and these repairs."""
    repair_code = [fence(item) for item in repairs]
    return answers(**{"generate_code": [fence(code)], "repair_code": repair_code, **changes})


def write_recording(answers: dict[str, list[Any]]) -> str:
    """Write answers by tool as a recording, and return its name as a model."""
    lines = (
        json.dumps({"tool": tool, "answer": answer})
        for tool, items in answers.items()
        for answer in items
    )
    Path("answers.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return "replay:answers.jsonl"
