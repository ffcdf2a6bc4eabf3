"""Programs that forge their verdict where they share a process with the tests; here they do not."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.records import Expectation, TestRun
from greenloop.sandbox.warm.backend import WarmSandbox
from tests.security.hostile.conftest import Limited

pytestmark = pytest.mark.parametrize(
    "box", ["bubblewrap", "native"], indirect=True, scope="session"
)

TESTS = """
from solution import add, label


def test_add():
    assert add(2, 3) == 5


def test_add_more():
    assert add(-1, 41) == 40


def test_label():
    assert label(7) == "odd-zebra"
"""
IDS = frozenset(f"test_solution.py::test_{name}" for name in ("add", "add_more", "label"))
WRONG = "def add(a, b): return a - b - 1\n\n\ndef label(n): return None\n"

FORGERIES = {
    "rewrites the test functions": """
        import gc, types
        def forge():
            for item in gc.get_objects():
                if isinstance(item, types.FunctionType) and item.__name__.startswith("test_"):
                    item.__code__ = (lambda: None).__code__
        def work():
            while True:
                forge()
        import threading
        threading.Thread(target=work, daemon=True).start()
        def add(a, b): time.sleep(0.2)
        label = add
        import time
    """,
    "rewrites the test file": """
        import glob
        for path in glob.glob("/tmp/**/test_*.py", recursive=True) + glob.glob("test_*.py"):
            open(path, "w").write("def test_add(): pass")
    """,
    "patches the reports": """
        import _pytest.reports
        original = _pytest.reports.TestReport.from_item_and_call.__func__
        def forged(cls, item, call):
            report = original(cls, item, call)
            if report.outcome == "failed":
                report.outcome = "passed"
                report.longrepr = None
                call.excinfo = None
            return report
        _pytest.reports.TestReport.from_item_and_call = classmethod(forged)
    """,
    "patches the calls": """
        import _pytest.runner
        original = _pytest.runner.CallInfo.from_call.__func__
        def forged(cls, func, when, reraise=None):
            return original(cls, lambda: None, when, reraise)
        _pytest.runner.CallInfo.from_call = classmethod(forged)
    """,
    "replaces the module of the tests": """
        import sys
        for name, module in list(sys.modules.items()):
            if name.startswith("test_"):
                vars(module).clear()
    """,
    "answers with what equals all": """
        class Any:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 5
        def add(a, b): return Any()
        def label(n): return Any()
    """,
    "answers with numbers and text that equal all": """
        class Number(int):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
        class Text(str):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
        def add(a, b): return Number()
        def label(n): return Text()
    """,
    "is a class that equals all": """
        class add:
            def __init__(self, *numbers): pass
            def __eq__(self, other): return True
        label = add
    """,
    "ends the process at import": "import os\nos._exit(0)\n",
    "ends the process at a call": """
        import os
        def add(a, b): os._exit(0)
        label = add
    """,
    "ends the process at exit": "import atexit, os\natexit.register(os._exit, 0)\n",
    "exits at a call": """
        import sys
        def add(a, b): sys.exit(0)
        label = add
    """,
    "skips": """
        import pytest
        def add(a, b): pytest.skip("not today")
        label = add
    """,
    "skips by unittest": """
        import unittest
        def add(a, b): raise unittest.SkipTest("not today")
        label = add
    """,
    "traces": """
        import sys
        def trace(frame, event, argument):
            if frame.f_code.co_name.startswith("test_") and event == "line":
                frame.f_lineno = frame.f_code.co_firstlineno
            return trace
        sys.settrace(trace)
    """,
    "takes assertions out of the builtins": """
        import builtins
        builtins.AssertionError = Warning
        builtins.isinstance = lambda *_: True
    """,
    "reads the expected values in its caller": """
        import sys
        def add(a, b):
            frame = sys._getframe(1)
            while frame and not frame.f_code.co_name.startswith("test_"):
                frame = frame.f_back
            return next(c for c in reversed(frame.f_code.co_consts) if type(c) in (int, str))
        def label(n): return add(n, n)
    """,
    "forks and comes back": """
        import os
        def add(a, b):
            if os.fork():
                os.wait()
            return 0
    """,
    "patches from a thread": """
        import threading, time
        def work():
            import _pytest.reports
            while True:
                _pytest.reports.TestReport.outcome = "passed"
                time.sleep(0.001)
        threading.Thread(target=work, daemon=True).start()
    """,
    "signals everybody": """
        import os, signal
        for pid in [-1, 0, 1, os.getppid(), *range(2, 40)]:
            try:
                if pid not in (0, os.getpid()):
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    """,
    "writes what pytest picks up": """
        import os
        hook = '''
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
'''
        for folder in ("/tmp/work", "/tmp", "/tmp/tmp", "/tmp/home", "."):
            for name in ("conftest.py", "sitecustomize.py", "re.py", "decimal.py", "pytest.py"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(hook)
        open("/tmp/work/pytest.ini", "w").write("[pytest]\\naddopts = -p conftest")
    """,
    "takes the folder of the tests away": """
        import os, shutil
        shutil.rmtree("/tmp/work", ignore_errors=True)
        for path in ("/tmp/work", "/tmp/tmp"):
            for act in (os.rmdir, lambda p: os.rename(p, p + "x")):
                try:
                    act(path)
                except OSError:
                    pass
    """,
}
# What speaks to the other side past our own code there.
WIRES = {
    "closes it": "os.close(3); os.close(4)",
    "floods it": "write(4, b'\\0' * 1000000)",
    "announces too much": "write(4, struct.pack('!I', 1 << 31))",
    "announces more than it sends": "write(4, struct.pack('!I', 1000) + b'{}'); os._exit(0)",
    "sends no JSON": "say(b'hello')",
    "sends no object": "say(b'[1, 2]')",
    "nests deeply": "say(b'{\"did\":' + b'[' * 500000 + b']' * 500000 + b'}')",
    "names a function": "answer(['g', ['os', '_exit']])",
    "names eval": "answer(['g', ['builtins', 'eval']])",
    "names what is not there": "answer(['y', 7])",
    "names a container that is not there": "answer(['@', 7])",
    "describes nonsense": "say(json.dumps({'did': 1, 'lane': 0, 'news': [[9, {'form': 'plain'}]]}))",
    "describes twice": "say(json.dumps({'did': 1, 'lane': 0, 'news': [[0, {'form': 'module'}]] * 2}))",
    "raises what is no error": "say(json.dumps({'raised': [], 'lane': 0, 'value': 5}))",
    "asks for what it was never given": (
        "say(json.dumps({'do': 'call', 'lane': 0, 'value': ['t', [['g', ['os', '_exit']], 0]]}))"
    ),
    "speaks on many lanes": (
        "[say(json.dumps({'do': 'get', 'lane': -n, 'value': ['t', []]})) for n in range(1, 300)]"
    ),
    "sets variables": (
        "say(json.dumps({'did': 1, 'lane': 0, 'value': 1, 'variables': {'A=\\0': '1'}}))"
    ),
}
SPEAKING = """
import json, os, struct
write = os.write
def say(data):
    data = data if isinstance(data, bytes) else data.encode()
    data = struct.pack("!I", len(data)) + data
    while data:
        data = data[write(4, data):]
def answer(value):
    say(json.dumps({"did": True, "lane": 0, "value": value}))
def add(a, b):
    __ACT__
    return 0
label = add
"""


# Likenesses of its own making, described past our code, and our code made to serve them.
DESCRIBING = """
import gc, json, os, struct
class Any:
    def __eq__(*_): return True
    def __contains__(*_): return True
def add(a, b):
    peer = next(item for item in gc.get_objects() if type(item).__name__ == "Peer")
    if 500 in peer._codec.ours:
        news = []
    else:
        news = [[502, {"form": "function", "name": "f"}], [500, __CLASS__], [501, {"form": "object", "class": ["o", 500]}]]
    peer._codec.ours.update({500: Any, 501: Any(), 502: lambda *_: True})
    data = json.dumps({"did": True, "lane": 0, "value": __VALUE__, "news": news}).encode()
    os.write(4, struct.pack("!I", len(data)) + data)
    peer.listen()
label = add
"""
_SHAPE = "'name': 'add', 'qualname': 'add', 'module': 'solution', 'bases': [['g', ['{base}']]]"
LIKENESSES = {
    "static": ("'form': 'plain', 'members': {'__eq__': ['static', {}]}", "['o', 501]"),
    "class": ("'form': 'plain', 'members': {'__eq__': ['class', {}]}", "['o', 501]"),
    "property": ("'form': 'plain', 'members': {'__eq__': ['property', {}]}", "['o', 501]"),
    "method": ("'form': 'plain', 'members': {'__eq__': ['method', {}]}", "['o', 501]"),
    "attribute": ("'form': 'plain', 'members': {'__getattribute__': ['method', {}]}", "['o', 501]"),
    "enum": (
        "'form': 'enum', 'enum': [['__eq__', ['o', 502]], ['A', 1]]",
        "['e', [['o', 500], 'A', None]]",
    ),
    "tuple": (
        "'form': 'namedtuple', 'tuple': [], 'members': {'__eq__': ['static', {}]}",
        "['n', [['o', 500], []]]",
    ),
    "error": ("'form': 'exception', 'members': {'__eq__': ['static', {}]}", "['o', 501]"),
}


@pytest.mark.parametrize("name", LIKENESSES)
def test_no_likeness_equals_all(box: WarmSandbox, limited: Limited, name: str) -> None:
    shape, value = LIKENESSES[name]
    base = {"enum": "enum', 'Enum", "error": "builtins', 'Exception"}.get(
        name, "builtins', 'object"
    )
    kind = f"{{'members': {{}}, {_SHAPE.format(base=base)}, {shape}}}"
    with limited(timeout_s=5):
        run = split(box, DESCRIBING.replace("__CLASS__", kind).replace("__VALUE__", value))
    assert not run.passed
    assert run.passed_count == 0, run


def split(box: WarmSandbox, code: str, tests: str = TESTS) -> TestRun:
    return box.run_tests(
        code, tests, module="solution", expected=Expectation(ids=IDS), form="split"
    )


def test_a_right_module_passes(box: WarmSandbox) -> None:
    right = "def add(a, b): return a + b\ndef label(n): return ('even', 'odd')[n % 2] + '-zebra'"
    run = split(box, right)
    assert run.passed, run
    assert (run.form, run.own_equality) == ("split", ())


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_fail(box: WarmSandbox, name: str) -> None:
    run = split(box, WRONG + textwrap.dedent(FORGERIES[name]))
    assert not run.passed, run
    assert run.passed_count == 0, run


@pytest.mark.parametrize("name", WIRES)
def test_no_message_makes_a_green(box: WarmSandbox, limited: Limited, name: str) -> None:
    with limited(timeout_s=3):
        run = split(box, SPEAKING.replace("__ACT__", WIRES[name]))
    assert not run.passed
    assert run.ending in ("finished", "timeout"), run


def test_in_one_process_some_of_them_do_forge(box: WarmSandbox) -> None:
    """Else the tests above would say nothing."""
    forged = 0
    for name, program in FORGERIES.items():
        code = WRONG + textwrap.dedent(program)
        if "equal" in name or name.startswith("patches the"):
            forged += box.run_tests(code, TESTS, module="solution").passed
    assert forged >= 4
