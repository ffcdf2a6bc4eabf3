"""Programs that forge their verdict where they share a process with the tests; apart they do not."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.grading import GradingContext
from greenloop.grading.observation.isolation import measure
from greenloop.records import Isolated
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile
from tests.security.hostile.conftest import Limited

TESTS = """
from solution import add, label


def test_add():
    assert add(2, 3) == 5


def test_add_more():
    assert add(-1, 41) == 40


def test_label():
    assert label(7) == "odd-zebra"
"""
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


def measure_isolation(box: Sandbox, code: str) -> Isolated:
    files = [TestFile("test_solution.py", TESTS)]
    run = box.run_tests(code, files, module="solution")
    found = measure(GradingContext(box, code, files, "solution", run))
    assert isinstance(found, Isolated)
    return found


def test_all_tests_of_a_right_module_agree(box: Sandbox) -> None:
    right = "def add(a, b): return a + b\ndef label(n): return ('even', 'odd')[n % 2] + '-zebra'"
    wanted = Isolated(reached=True, tests=3, observed=3, agreed=3, answers=3)
    assert measure_isolation(box, right) == wanted


@pytest.mark.parametrize("name", FORGERIES)
def test_no_test_of_a_forgery_agrees(box: Sandbox, limited: Limited, name: str) -> None:
    with limited(timeout_s=5):
        found = measure_isolation(box, WRONG + textwrap.dedent(FORGERIES[name]))
    assert found.agreed == 0
    assert not found.reached or found.explain_own_answers()
    assert len(found.differing) + len(found.not_observable) == found.tests == 3


def test_beside_the_tests_some_of_them_do_forge(box: Sandbox) -> None:
    """Else the tests above would say nothing."""
    forged = 0
    for name, program in FORGERIES.items():
        code = WRONG + textwrap.dedent(program)
        if "equal" in name or name.startswith("patches the"):
            forged += box.run_tests(code, TESTS, module="solution").passed
    assert forged >= 4
