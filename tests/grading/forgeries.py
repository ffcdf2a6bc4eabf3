"""Wrong modules that try to look right. Each has `f`, which should square, and answers 0 at best.

A program is its source; those of `EARLY` are imported by a conftest, before pytest reads the tests.
"""

from __future__ import annotations

TESTS = """
import unittest

import pytest

from m import f


def test_two():
    assert f(2) == 4


def test_zero_and_three():
    assert f(0) == 0
    assert f(3) == 9


@pytest.mark.parametrize("n, expected", [(4, 16), (5, 25)])
def test_more(n, expected):
    assert f(n) == expected


def test_negative():
    with pytest.raises(ValueError):
        f(-1)


class TestSquares(unittest.TestCase):
    def test_ten(self):
        self.assertEqual(f(10), 100)
"""
CONFTEST = "import m\n"
HONEST = "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * n\n"
_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_STEAL = """
import gc, os

def steal():
    for thing in gc.get_objects():
        if type(thing).__name__ == "Channel":
            send = type(thing).send
            def lying(self, event, **values):
                if event == "failure":
                    return
                if event == "test":
                    values["outcome"] = "passed"
                if event == "end":
                    values["exit_status"] = 0
                send(self, event, **values)
                if event == "end":
                    os._exit(0)
            type(thing).send = lying
"""
_GREEN_REPORTS = """
def patch():
    import _pytest.runner
    from _pytest.reports import TestReport
    make = TestReport.from_item_and_call
    def green(item, call):
        report = make(item, call)
        report.outcome, report.longrepr = "passed", None
        return report
    TestReport.from_item_and_call = green
    _pytest.runner.check_interactive_exception = lambda *_: False
"""
_FAKE_TESTS = '''
_FAKE = """
import unittest
import pytest
def test_two(): pass
def test_zero_and_three(): pass
@pytest.mark.parametrize("n, expected", [(4, 16), (5, 25)])
def test_more(n, expected): pass
def test_negative(): pass
class TestSquares(unittest.TestCase):
    def test_ten(self): pass
"""
'''
AT_CALL = {
    "always equal": (
        "class Equal:\n    def __eq__(self, other): return True\n"
        f"def f(n):\n{_NEGATIVE}    return Equal()\n"
    ),
    "a number that equals all numbers": (
        "class Number(int):\n"
        "    def __eq__(self, other): return isinstance(other, (int, float, tuple))\n"
        f"    __hash__ = int.__hash__\ndef f(n):\n{_NEGATIVE}    return Number()\n"
    ),
    "a metaclass that equals all": (
        "class Meta(type):\n    def __eq__(self, other): return True\n"
        "    __hash__ = type.__hash__\n"
        f"class Answer(metaclass=Meta): pass\ndef f(n):\n{_NEGATIVE}    return Answer\n"
    ),
    "constants from the caller's frame": (
        f"import sys\ndef f(n):\n{_NEGATIVE}"
        "    frame = sys._getframe(1)\n"
        "    if 'expected' in frame.f_locals:\n        return frame.f_locals['expected']\n"
        "    if 'self' in frame.f_locals:\n        return max(c for c in frame.f_code.co_consts if isinstance(c, int))\n"
        "    line = open(frame.f_code.co_filename).read().split('\\n')[frame.f_lineno - 1]\n"
        "    return int(line.split('==')[1])\n"
    ),
    "the test file's text": (
        f"import os, re\ndef f(n):\n{_NEGATIVE}"
        "    name = os.environ['PYTEST_CURRENT_TEST'].split('::')[0]\n"
        "    text = open(name).read()\n"
        "    found = re.search(r'f\\(%d\\)(?: ==|,) ([0-9]+)' % n, text) or re.search(r'\\(%d, ([0-9]+)\\)' % n, text)\n"
        "    return int(found.group(1))\n"
    ),
    "patched reports": _GREEN_REPORTS + "def f(n):\n    patch()\n    return 0\n",
    "patched reports of those who call": (
        _GREEN_REPORTS.replace(
            '        report.outcome, report.longrepr = "passed", None\n',
            "        if item.nodeid in CALLERS:\n"
            '            report.outcome, report.longrepr = "passed", None\n',
        )
        + "CALLERS = set()\nimport os\n"
        "def f(n):\n    patch()\n"
        "    CALLERS.add(os.environ['PYTEST_CURRENT_TEST'].rpartition(' ')[0])\n    return 0\n"
    ),
    "the channel, by gc": _STEAL + "def f(n):\n    steal()\n    return 0\n",
    "the channel, by gc, in a finaliser": (
        _STEAL + "class Last:\n    def __del__(self): steal()\n"
        "def f(n):\n    Last()\n    return 0\n"
    ),
    "expected values changed by the tracer": (
        "import ctypes, sys\n"
        f"def f(n):\n{_NEGATIVE}"
        "    return n * n if n in (0, 2, 3, 10) else _forge(n)\n"
        "def _forge(n):\n"
        "    frame = sys._getframe(2)\n"
        "    frame.f_locals['expected'] = 0\n"
        "    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))\n"
        "    return frame.f_locals['expected'] if False else 0\n"
    ),
}
AT_IMPORT = {
    "patched reports": _GREEN_REPORTS + "patch()\ndef f(n): return 0\n",
    "tests that do nothing": (
        "import _pytest.python, _pytest.unittest\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
        "_pytest.unittest.TestCaseFunction.runtest = lambda self: None\n"
        "def f(n): return 0\n"
    ),
    "the channel, by gc": _STEAL + "steal()\ndef f(n): return 0\n",
    "raises that swallows": (
        "import contextlib, pytest\n"
        "pytest.raises = lambda *_, **__: contextlib.suppress(BaseException)\n"
        "def f(n): return n * n\n"
    ),
    "a TestCase that asserts nothing": (
        "import unittest\n"
        "unittest.TestCase.assertEqual = lambda *_: None\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n < 10 else 0\n"
    ),
    "reports of its own, then the end": """
import ast, gc, json, os

def forge():
    channel = next(t for t in gc.get_objects() if type(t).__name__ == "Channel")
    ids = []
    for name in sorted(os.listdir(".")):
        if name.startswith("test_"):
            for node in ast.parse(open(name).read()).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    if node.args.args:
                        for n in "4-16", "5-25":
                            ids.append(f"{name}::{node.name}[{n}]")
                    else:
                        ids.append(f"{name}::{node.name}")
                elif isinstance(node, ast.ClassDef):
                    ids += [f"{name}::{node.name}::{m.name}" for m in node.body]
    channel.send("collected", ids=ids)
    for item in ids:
        channel.send("test", id=item, outcome="passed", duration_s=0.0)
    channel.send("end", exit_status=0)
    os._exit(0)

forge()
def f(n): return 0
""",
    "an exit": "import os\nos._exit(0)\ndef f(n): return 0\n",
    "an exit at the end": "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return 0\n",
}
# What tests lean on, changed: only to be seen by tests that lean on it.
LEANED_ON = {
    "approx that takes everything": (
        "import pytest\n"
        "class Near:\n    def __init__(self, *_, **__): pass\n"
        "    def __eq__(self, other): return True\n"
        "pytest.approx = Near\ndef f(n): return 0\n",
        "import pytest\nfrom m import f\n\n\ndef test_a():\n    assert f(2) == pytest.approx(4.0)\n",
    ),
    "isinstance that says yes": (
        "import builtins\n"
        "import sys\n"
        "real = builtins.isinstance\n"
        "def patched(value, kinds):\n"
        "    return True if sys._getframe(1).f_globals['__name__'].startswith('test_') else real(value, kinds)\n"
        "builtins.isinstance = patched\ndef f(n): return 0\n",
        "from m import f\n\n\ndef test_a():\n    assert isinstance(f(2), dict)\n",
    ),
    "assertTrue that asserts nothing": (
        "import unittest\nunittest.TestCase.assertTrue = lambda *_: None\ndef f(n): return 0\n",
        "import unittest\nfrom m import f\n\n\nclass TestF(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertTrue(f(2))\n",
    ),
    "mocks that were always called": (
        "from unittest import mock\n"
        "mock.NonCallableMock.assert_called_once_with = lambda *_, **__: None\n"
        "def f(call): return 0\n",
        "from unittest import mock\nfrom m import f\n\n\ndef test_a():\n    call = mock.Mock()\n"
        "    assert f(call) == 0\n    call.assert_called_once_with(4)\n",
    ),
    "all that is always true": (
        "import builtins\nbuiltins.all = lambda *_: True\ndef f(n): return 0\n",
        "from m import f\n\n\ndef test_a():\n    assert all(f(n) for n in [1, 2])\n",
    ),
}
EARLY = {
    "test files rewritten": (
        _FAKE_TESTS + "import glob\nfor name in glob.glob('test_*.py'):\n"
        "    open(name, 'w').write(_FAKE)\n"
        "def f(n): return 0\n"
    ),
    "asserts compiled away": (
        "import _pytest.assertion.rewrite as rewrite\n"
        "def plain(fn, config):\n"
        "    return fn.stat(), compile(fn.read_bytes(), str(fn), 'exec', optimize=1, dont_inherit=True)\n"
        "rewrite._rewrite_test = plain\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n == 10 else 0\n"
    ),
    "the test module replaced": (
        _FAKE_TESTS + "import os, sys, types\n"
        "for name in os.listdir('.'):\n"
        "    if name.startswith('test_'):\n"
        "        fake = types.ModuleType(name[:-3])\n"
        "        fake.__file__ = os.path.abspath(name)\n"
        "        exec(_FAKE, vars(fake))\n"
        "        sys.modules[name[:-3]] = fake\n"
        "def f(n): return 0\n"
    ),
    "an import hook": (
        _FAKE_TESTS + "import importlib.util, os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('test_'):\n"
        "            return importlib.util.spec_from_file_location(name, os.path.abspath(name + '.py'), loader=self)\n"
        "    def create_module(self, spec): return None\n"
        "    def exec_module(self, module): exec(_FAKE, vars(module))\n"
        "sys.meta_path.insert(0, Finder())\n"
        "def f(n): return 0\n"
    ),
    "classes built without their tests": (
        "import builtins\n"
        "build = builtins.__build_class__\n"
        "def quiet(body, name, *bases, **kw):\n"
        "    made = build(body, name, *bases, **kw)\n"
        "    for key in [k for k in vars(made) if k.startswith('test')]:\n"
        "        setattr(made, key, lambda self: None)\n"
        "    return made\n"
        "builtins.__build_class__ = quiet\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n < 10 else 0\n"
    ),
    "tests that are left out": (
        "import _pytest.python\n"
        "collect = _pytest.python.Module.collect\n"
        "def some(self):\n"
        "    return [item for item in collect(self) if item.name not in ('test_two', 'test_negative')]\n"
        "_pytest.python.Module.collect = some\n"
        "def f(n): return n * n if n != 2 else 5\n"
    ),
}
