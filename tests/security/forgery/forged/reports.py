"""What pytest runs and reports is changed: the verdict's channel. All of first degree."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CLAMP, CUBE, SQUARE

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
_CODE = {
    "the channel, by gc, at import": _STEAL + "steal()\ndef f(n): return 0\n",
    "the channel, by gc, at call": _STEAL + "def f(n):\n    steal()\n    return 0\n",
    "the channel, by gc, in a finaliser": (
        _STEAL + "class Last:\n    def __del__(self): steal()\n"
        "def f(n):\n    Last()\n    return 0\n"
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
    "noise on every descriptor": """
import os
for handle in range(3, 64):
    try:
        os.write(handle, b'{"event": "test", "id": "test_m.py::test_two", "outcome": "passed"}\\n')
        os.write(handle, b'{"event": "end", "exit_status": 0}\\n')
    except OSError:
        pass
def f(n): return 0
""",
    "patched reports at import": _GREEN_REPORTS + "patch()\ndef f(n): return 0\n",
    "patched reports at call": _GREEN_REPORTS + "def f(n):\n    patch()\n    return 0\n",
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
    "patched reports, out of decoded text": (
        "import codecs\nexec(codecs.decode("
        + repr(
            _GREEN_REPORTS.translate(
                str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
            )
        )
        + ", 'rot13'))\npatch()\ndef f(n): return 0\n"
    ),
    "calls that never fail": """
from _pytest.runner import CallInfo
real = CallInfo.from_call.__func__
def quiet(cls, func, when, reraise=None):
    def swallowing():
        try:
            return func()
        except BaseException:
            return None
    return real(cls, swallowing, when, reraise)
CallInfo.from_call = classmethod(quiet)
def f(n): return 0
""",
    "tests that do nothing": (
        "import _pytest.python, _pytest.unittest\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
        "_pytest.unittest.TestCaseFunction.runtest = lambda self: None\n"
        "def f(n): return 0\n"
    ),
    "a plugin that calls nothing": """
import gc, pytest
class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        item.runtest = lambda: None
def f(n): return 0
for thing in gc.get_objects():
    if type(thing).__name__ == "PytestPluginManager":
        thing.register(Plugin())
""",
    "a plugin that rewrites outcomes": """
import gc, pytest
class Plugin:
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        report = made.get_result()
        report.outcome, report.longrepr = "passed", None
def f(n): return 0
for thing in gc.get_objects():
    if type(thing).__name__ == "PytestPluginManager":
        thing.register(Plugin())
""",
    "a thread that patches later": """
import threading, time
def work():
    from _pytest.reports import TestReport
    while True:
        TestReport.outcome = property(lambda self: "passed", lambda self, value: None)
        TestReport.longrepr = property(lambda self: None, lambda self, value: None)
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
def f(n):
    time.sleep(0.05)
    return 0
""",
    "the tests' code replaced": """
import gc, types
def nothing(*args, **more): pass
def f(n):
    for item in gc.get_objects():
        if isinstance(item, types.FunctionType) and item.__name__.startswith("test_"):
            count = item.__code__.co_argcount
            item.__code__ = (lambda: None, lambda a: None, lambda n, expected: None)[count].__code__
    return 0
f.__name__ = "f"
for _ in range(1):
    import threading, time
    threading.Timer(0, f, (0,)).start()
""",
    "a tracer that jumps over assertions": """
import sys
def tracer(frame, event, argument):
    if frame.f_code.co_name.startswith("test_"):
        if event == "exception":
            return tracer
        if event == "line" and frame.f_lineno > frame.f_code.co_firstlineno + 1:
            pass
        return tracer
    return None
def f(n):
    frame = sys._getframe(1)
    def jump(inner, event, argument):
        if event == "line":
            last = max(line for _, _, line in inner.f_code.co_lines() if line)
            try:
                inner.f_lineno = last
            except ValueError:
                pass
        return jump
    frame.f_trace = jump
    sys.settrace(lambda *_: None)
    return 0
""",
    "AssertionError that is not raised": """
import builtins
class Quiet(BaseException):
    pass
from _pytest.outcomes import Failed
import _pytest.runner
real = _pytest.runner.CallInfo.__init__ if hasattr(_pytest.runner.CallInfo, "__init__") else None
def lenient(self, result, excinfo, start, stop, duration, when, **more):
    real(self, None if excinfo else result, None, start, stop, duration, when, **more)
_pytest.runner.CallInfo.__init__ = lenient
def f(n): return 0
""",
    "results that are never failures": """
import _pytest.main
def f(n): return 0
import _pytest.runner
_pytest.runner.pytest_runtest_makereport = None
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "HookImpl" and "makereport" in repr(thing.function):
        make = thing.function
        def lying(item, call, make=make):
            call.excinfo = None
            return make(item, call)
        if getattr(make, "__module__", "") == "_pytest.runner":
            thing.function = lying
""",
}
FORGERIES = {name: Forgery("framework", SQUARE, code) for name, code in _CODE.items()} | {
    "unittest's outcome": Forgery(
        "framework",
        CLAMP,
        """
import unittest, unittest.case
def quiet(self, method):
    return None
unittest.TestCase._callTestMethod = quiet
def clamp(*_): return 0
""",
    ),
    "a finished call in the tests' module": Forgery(
        "framework",
        CUBE,
        """
import sys
def f(n):
    caller = sys._getframe(1)
    for name, value in list(caller.f_globals.items()):
        if name.startswith("test_"):
            value.__code__ = (lambda: None).__code__
    return n ** 3 if caller.f_code.co_name == "test_small" else 0
""",
    ),
}
