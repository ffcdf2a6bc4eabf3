"""Code that could forge a verdict is found with its line; ordinary code is not."""

from __future__ import annotations

import pytest

from greenloop.grading.integrity.issues import find_integrity_issues


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import pytest", "imports `pytest`"),
        ("from _pytest.reports import TestReport", "imports `_pytest.reports`"),
        ("import gc, json\ngc.get_objects()", "imports `gc`"),
        ("def f():\n    import inspect\n    return inspect.stack()", "imports `inspect`"),
        ("import inspect as i\nx = i.currentframe", "imports `inspect`"),
        ("import inspect\nlook = inspect", "imports `inspect`"),
        ("import inspect\ngetattr(inspect, 'st' + 'ack')()", "imports `inspect`"),
        ("import inspect\nglobals()['ins' + 'pect'].stack()", "imports `inspect`"),
        ("from inspect import signature, stack", "imports `inspect`"),
        ("from inspect import *", "imports `inspect`"),
        ("import inspect\nimport m as own\nown.inspect.stack()", "imports `inspect`"),
        ("import ctypes.util", "imports `ctypes.util`"),
        ("import ctypes\nctypes.pythonapi", "imports `ctypes`"),
        ("from ctypes import c_int\nc_int.from_address(id(f))", "imports `ctypes`"),
        ("import os\nos._exit(0)", "`os._exit` ends the process"),
        ("import os as o\no._exit(0)", "`os._exit` ends the process"),
        ("from os import _exit as leave", "`os._exit` ends the process"),
        ("from os import kill", "`os.kill`"),
        ("from sys import modules", "`sys.modules`"),
        ("import sys\nsys.modules['x'] = 1", "`sys.modules`"),
        ("import sys\nf = sys._getframe", "`sys._getframe`"),
        ("import atexit\natexit.register(print)", "`atexit.register`"),
        ("import operator\nup = operator.attrgetter('f_back')\n", "`f_back`"),
        ("try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back", "`.f_back`"),
        ("x = ().__class__.__base__.__subclasses__()", "`.__subclasses__`"),
        ("def f(e): return e.__traceback__.tb_next", "`.tb_next` reads frames"),
        ("import traceback\nx = traceback.walk_tb(t)", "`traceback.walk_tb` reads its callers"),
        ("x = f.__globals__['os']", "`.__globals__` reads frames, names or classes"),
        ("import os\ngetattr(os, '_exit')(0)", "`os._exit` ends the process"),
        ("import builtins\nsetattr(builtins, '__build_class__', f)", "`builtins.__build_class__`"),
        ("import sys\nsys.monitoring.use_tool_id(1, 'x')", "`sys.monitoring` traces"),
        ("exec('x = 1')", "`exec` runs code that cannot be analysed"),
        ("__import__('o' + 's')", "`__import__` runs"),
        ("class A:\n    def __eq__(self, other): return True", "`__eq__` returns True"),
        ("import time\ntime.sleep = print", "replaces `time.sleep`"),
        ("import json as j\nx, j.loads = 1, 2", "replaces `json.loads`"),
        (
            "import unittest\nunittest.TestCase.assertEqual = f",
            "replaces `unittest.TestCase.assertEqual`",
        ),
        ("import builtins\nsetattr(builtins, n, f)", "replaces parts of `builtins`"),
        ("import traceback\ntraceback.extract_stack()", "reads its callers' frames"),
        ("def f(): return hash(f.__code__)", "`__code__` reads source"),
        ("def f(): return f.__code__.co_code", "`co_code` reads source"),
        ("f = getattr(g, '__code__')", "`__code__` reads source"),
        ("import dis", "imports `dis`"),
        ("import __main__", "imports `__main__`"),
        ("import sys\nx = sys.flags.no_site", "`sys.flags` reads how its process was started"),
        ("from sys import orig_argv", "`sys.orig_argv` reads how its process was started"),
        ("x = open('/proc/self/cmdline')", "`/proc/self/cmdline` shows how its process"),
        ("from inspect import getsource", "`inspect.getsource` reads source"),
        ("text = open(__file__).read()", "`__file__` reads source"),
        ("from pathlib import Path\nx = Path(__file__).stat()", "`__file__` reads source"),
        ("x = Path(open(__file__).read()).parent", "`__file__` reads source"),
        ("x = __spec__.loader.get_source(__name__)", "`__spec__` reads source"),
        ("import m\nx = open(m.__file__)", "`__file__` reads source"),
    ],
)
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
