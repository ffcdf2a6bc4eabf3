"""Signatures and examples of a specification."""

import re
import subprocess
import sys
from pathlib import Path

from greenloop.specification.example_tests import render_example_tests
from greenloop.specification.examples import analyze_specification
from tests.support.programs import read_program

# One specification's examples, a right module for them, and modules that are wrong in one respect.
SPECIFICATION = read_program(__file__, "SPECIFICATION")
RIGHT = read_program(__file__, "RIGHT")
WRONG = {
    RIGHT: set(),
    RIGHT.replace("s.upper()", "' '.join(s.upper().split())"): {6},
    RIGHT.replace("{n, n + 1}", "{n}"): {7},
    RIGHT.replace("{n, n + 1}", "[n, n + 1]"): {7},
    RIGHT.replace("return None", "return 0"): {9},
    RIGHT.replace("raise Odd", "raise TypeError"): {3, 10},
    RIGHT.replace("raise Odd(", "return print("): {3, 10},
    RIGHT.replace("0.1 + 0.2", "0.4"): {2, 8},
    RIGHT.replace("[1]", "(1,)"): {2, 8},
    RIGHT.replace("0.33333333330000001", "0.34"): {5},
    RIGHT.replace("s.upper()", "s"): {1, 4, 6},
}


def failing(codes: list[str], text: str, folder: Path) -> list[set[int]]:
    """Return for each module the numbers of the example tests that fail on it."""
    for number, code in enumerate(codes):
        (folder / f"examined_{number}.py").write_text(code)
        tests = render_example_tests(f"examined_{number}", analyze_specification(text).examples)
        (folder / f"test_{number}.py").write_text(tests)
    words = ("-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "-p", "no:randomly")
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout
    found = re.findall(r"^FAILED test_(\d+)\.py\S*example_(\d+)", done.stdout, re.MULTILINE)
    return [{int(test) for n, test in found if int(n) == number} for number in range(len(codes))]


def test_example_tests_fail_on_wrong_code_only(tmp_path: Path) -> None:
    found = failing(list(WRONG), SPECIFICATION, tmp_path)
    assert dict(zip(WRONG, found, strict=True)) == WRONG


SHOWN = read_program(__file__, "SHOWN")
SHOWING = """
import json
class Point:
    def __repr__(self): return "Point(x=1)"
def point(n): return Point()
def greet(name): print(f"Hello {name}\\n\\nBye")
def odd(n): return json.loads("{")
"""


WRONGLY_SHOWING = {
    SHOWING: set(),
    SHOWING.replace("x=1", "x=2"): {1},
    SHOWING.replace("Bye", "Good bye"): {2},
    SHOWING.replace('loads("{")', 'dumps("{")'): {4},
}


def test_shown_objects_and_printed_text(tmp_path: Path) -> None:
    found = failing(list(WRONGLY_SHOWING), SHOWN, tmp_path)
    assert dict(zip(WRONGLY_SHOWING, found, strict=True)) == WRONGLY_SHOWING
