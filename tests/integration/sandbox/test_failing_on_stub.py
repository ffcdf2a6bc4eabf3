"""Tests that are read to fail on a stub, beside a run of them on it."""

from __future__ import annotations

import pytest

from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from greenloop.testsuite.quality_gates import find_broken_on_stub
from greenloop.testsuite.stubs import build_stub, find_failing_tests
from greenloop.testsuite.suite import Suite

INTERFACE = '''
"""Numbers."""
LIMIT: int
class TooLarge(ValueError):
    """It is too large."""
def scale(values: list[int], factor: int = 1) -> list[int]: ...
def count(text): ...
'''
STUB = build_stub(INTERFACE)
HEAD = "import pytest\nfrom numbers_ import LIMIT, TooLarge, count, scale\n"

READ = {
    "equal": "assert scale([1], 2) == [2]",
    "value first": "found = scale([1])\nassert found == [1]",
    "steps before": "data = sorted([2, 1])\nassert data\nassert scale(data) == data",
    "inside an argument": "assert sum(scale([1, 2], factor=count('ab'))) > 2",
    "first of a chain": "assert 1 < count('ab') < 3",
    "negated": "assert not count('')",
    "first operand": "assert count('') or count('a')",
    "condition": "assert 1 if count('a') else 0",
    "rows": "for text, expected in [('a', 1), ('b', 1)]:\n    assert count(text) == expected",
    "comprehension of a call": "assert [item for item in scale([1])] == [1]",
    "another exception": "with pytest.raises(ValueError, match='below'):\n    scale([1], -1)",
    "one of several": "with pytest.raises((ValueError, KeyError)) as caught:\n    count('')\nassert caught",
    "later one only": "with pytest.raises(KeyError):\n    {}['a']\nassert count('a') == 1",
    "exception of the module": "with pytest.raises(TooLarge):\n    count('a')",
    "import inside": "import math\nassert count('a') == math.floor(1.5)",
    "approximately": "assert scale([1]) == pytest.approx([1.0])",
    "module": "import numbers_ as n\nassert n.count('a') == 1",
}
# Forms that may hide something else, of which some pass on the stub.
NOT_READ = {
    "no call": "assert LIMIT is None",
    "not called": "assert callable(count)",
    "expected": "with pytest.raises(NotImplementedError):\n    count('a')",
    "expected base": "with pytest.raises(Exception):\n    count('a')",
    "expected among others": "with pytest.raises((ValueError, RuntimeError)):\n    count('a')",
    "wrong arguments": "with pytest.raises(TypeError):\n    count()",
    "expected as a call": "pytest.raises(NotImplementedError, count, 'a')",
    "argument raises before": "with pytest.raises(ValueError):\n    count(int('x'))",
    "other step before": "with pytest.raises(ValueError):\n    int('x')\n    count('a')",
    "other context": "import contextlib\nwith contextlib.suppress(Exception):\n    count('a')",
    "caught": "try:\n    count('a')\nexcept NotImplementedError:\n    pass",
    "branch": "if LIMIT:\n    count('a')",
    "loop": "while LIMIT:\n    count('a')",
    "no rows": "for text in []:\n    assert count(text) == 1",
    "rows of a name": "rows = []\nfor text in rows:\n    assert count(text) == 1",
    "second operand": "assert True or count('a')",
    "end of a chain": "assert not (2 < 1 < count('a'))",
    "not evaluated": "assert (lambda: count('a'))",
    "generator": "assert (count(item) for item in 'ab')",
    "condition in a comprehension": "assert [count(item) for item in []] == []",
    "early end": "return\ncount('a')",
    "yields": "yield count('a')",
    "skips": "pytest.skip('later')\nassert count('a') == 1",
    "replaced": "import numbers_ as n\nn.count = len\nassert n.count('a') == 1",
    "replaced by name": "count = len\nassert count('a') == 1",
    "unknown name": "assert count(unknown) == 1",
    "assigned later": "assert count(text) == 1\ntext = 'a'",
    "exception under another name": "TooLarge = NotImplementedError\n"
    "with pytest.raises(TooLarge):\n    count('a')",
    "nested": "def inner():\n    count('a')\nassert inner",
}
WHOLE_FILES = {
    "fixture": "def test_it(missing):\n    assert count('a') == 1\n",
    "mark": "@pytest.mark.xfail\ndef test_it():\n    assert count('a') == 1\n",
    "decorator": "from functools import partial\n@partial\ndef test_it():\n    count('a')\n",
    "class": "class TestIt:\n    def test_it(self):\n        count('a')\n",
    "async": "async def test_it():\n    count('a')\n",
    "hook": "def setup_module():\n    raise ValueError\ndef test_it():\n    count('a')\n",
    "not collected": "__test__ = False\ndef test_it():\n    count('a')\n",
    "import fails": "from numbers_ import missing\ndef test_it():\n    count('a')\n",
    "package": "import numpy\ndef test_it():\n    count('a')\n",
    "plugin": "import pytest_mock\ndef test_it():\n    count('a')\n",
    "code at the top": "count('a')\ndef test_it():\n    count('a')\n",
    "annotation fails": "def test_it() -> 1 / 0:\n    count('a')\n",
    "default fails": "def helper(n=count('a')): ...\ndef test_it():\n    count('a')\n",
    "imported test": "from numbers_ import count as test_count\ndef test_it():\n    count('a')\n",
    "hidden by a function": "def count(text): return 1\ndef test_it():\n    assert count('a') == 1\n",
    "does not parse": "def test_it(:\n    count('a')\n",
}


def build_file(body: str) -> TestFile:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return TestFile("test_numbers_.py", f"{HEAD}\n\ndef test_it():\n{lines}")


def test_what_is_read_to_fail_does_fail(box: Sandbox) -> None:
    files = [
        TestFile(f"test_{number}.py", build_file(body).code)
        for number, body in enumerate(READ.values())
    ]
    ids = find_failing_tests(STUB, "numbers_", files)
    assert [item.partition("::")[0] for item in ids] == [item.name for item in files]
    run = box.run_tests(STUB, files, module="numbers_")
    assert run.outcomes == dict.fromkeys(ids, "failed")
    assert (run.ending, run.exit_status) == ("finished", 1)
    assert not any(
        find_broken_on_stub(Suite("numbers_", generated=item.code), run) for item in files
    )


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_a_test_that_must_make_a_call_is_read(body: str) -> None:
    assert find_failing_tests(STUB, "numbers_", [build_file(body)]) == (
        "test_numbers_.py::test_it",
    )


@pytest.mark.parametrize("body", NOT_READ.values(), ids=NOT_READ)
def test_a_test_that_may_end_otherwise_is_not_read(body: str) -> None:
    assert find_failing_tests(STUB, "numbers_", [build_file(body)]) == ()


@pytest.mark.parametrize("code", WHOLE_FILES.values(), ids=WHOLE_FILES)
def test_a_file_of_which_something_else_may_be_collected_is_not_read(code: str) -> None:
    assert find_failing_tests(STUB, "numbers_", [TestFile("test_it.py", HEAD + code)]) == ()


def test_one_file_that_is_not_read_leaves_all_to_a_run() -> None:
    files = [build_file(READ["equal"]), TestFile("test_b.py", HEAD + WHOLE_FILES["fixture"])]
    assert find_failing_tests(STUB, "numbers_", files) == ()


@pytest.mark.parametrize(
    "interface",
    [
        "import numpy\ndef count(text): ...\ndef scale(values): ...",
        "def count(text, limit=missing): ...",
        "class TooLarge(Missing): ...\ndef count(text): ...",
        "import functools\n@functools.cache\ndef count(text): ...",
        "async def count(text): ...",
        "class Count:\n    def __call__(self, text): ...\ncount = Count()",
    ],
)
def test_a_stub_that_may_not_raise_is_left_to_a_run(interface: str) -> None:
    file = TestFile(
        "test_it.py", "from m import count\ndef test_it():\n    assert count('a') == 1\n"
    )
    assert find_failing_tests(build_stub(interface), "m", [file]) == ()
