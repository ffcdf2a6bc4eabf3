"""Code that could forge a verdict is found with its line; ordinary code is not."""

import pytest

from greenloop.grading.integrity.issues import find_findings, find_integrity_issues
from tests.support.programs import read_table


@pytest.mark.parametrize(("code", "said"), read_table(__file__, "suspicious_code_is_found"))
def test_suspicious_code_is_found(code: str, said: str) -> None:
    found = find_integrity_issues(code)
    assert any(said in item.what for item in found), found
    assert found[0].line >= 1


def test_findings_are_unique_and_sorted_by_line() -> None:
    found = find_integrity_issues(
        "import sys\nimport _thread\nsys.modules, sys.modules\nimport pytest\n"
    )
    assert [item.line for item in found] == [2, 3, 4]


@pytest.mark.parametrize(
    "code",
    [
        "import ctypes",
        "import ctypes as c\nclass P(c.Structure):\n    _fields_ = [('x', c.c_int32)]\nc.sizeof(P)",
        "from ctypes import c_uint8, sizeof\nsizeof(c_uint8)",
        "import inspect\ndef f(g): return list(inspect.signature(g).parameters)",
        "from inspect import Parameter, iscoroutinefunction",
        "import gc\ngc.collect()",
        "class Place: pass\nPlace.from_address('Main Street 1')",
        "import os, sys\nprint(os.path.join('a'), sys.argv, sys.exit)",
        "class Loader:\n    modules = []\n    def register(self): return self.modules",
        "def kill(os): return 'os._exit in a text'",
        "class A:\n    def __eq__(self, o): return self.x == o.x\n    def eval(self): return self.compile()",
        "class A:\n    def __eq__(self, o):\n        if o != 1:\n            return False\n        return True",
        "import os\ndef f(name): return getattr(os, name)(getattr(os, 'sep'))",
        "import os as system\nclass os:\n    path = 1",
        "import sys, warnings\nsys.stdout = x\nwarnings.showwarning = f\nself.time.sleep = 1",
        "import m\nm.x = 1\nvars(self)['x'] = A().__dict__",
        "import time\ntime.sleep(1)\nclass A:\n    __class_getitem__ = f\n    def of(self): return self.__class__",
        "import os\nx = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'data')",
        "from pathlib import Path\nx = Path(__file__).resolve().parent / 'data'",
        "def count(f): return f.__code__.co_varnames[: f.__code__.co_argcount]",
        "def f(:",
        "\0",
        "-" * 100_000 + "1",
        "a" + ".b" * 20_000,
        "",
    ],
)
def test_ordinary_or_unparsable_code_has_no_finding(code: str) -> None:
    assert find_integrity_issues(code) == ()


@pytest.mark.parametrize(("first", "count"), [("", 0), ("__name__ = '__main__'\n", 1)])
def test_code_that_runs_only_as_a_script_is_not_part_of_the_tests(first: str, count: int) -> None:
    code = f"{first}if __name__ == '__main__':\n    import marshal\n"
    assert len(find_findings(code, [])) == count
