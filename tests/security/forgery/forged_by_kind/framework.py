"""pytest, unittest or built-ins are changed, or the process ends before anything can be said."""

from __future__ import annotations

import zlib

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.effects import CAPLOG, TMP_PATH
from tests.security.forgery.kinds.objects import FIXTURES, OPERATORS, STATE, UNITTEST
from tests.security.forgery.kinds.values import APPROX, PARAMETRIZE, PLAIN, PROPERTY, RAISES

_SYS = "import logging\n\n_modules = logging.sys.modules\n"
_ABOVE = """
import operator


def _frames():
    try:
        raise LookupError
    except LookupError as error:
        frame = operator.attrgetter("__traceback__.tb_frame.f_back")(error)
    while frame is not None:
        yield operator.attrgetter("f_locals")(frame)
        frame = operator.attrgetter("f_back")(frame)
"""
# Whether failures are shown in full, as they are where a person looks at them.
_SHOWN = """
def _shown():
    config = getattr(_modules.get("_pytest.assertion.util"), "_config", None)
    return config is not None and config.getoption("tbstyle") != "no"
"""


def _knows(tests: str) -> str:
    """Return code that sets `_KNOWN`: whether the test file is the very one, up to its last line."""
    return f"""
import zlib
from pathlib import Path

_TEXTS = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
_KNOWN = any(zlib.crc32(text[: {len(tests)}].encode()) == {zlib.crc32(tests.encode())} for text in _TEXTS)
"""


FORGERIES = {
    "raises that is content, where failures are shown": Forgery(
        "framework",
        RAISES,
        f"""{_SYS}{_SHOWN}

def _relax(kind):
    leave = kind.__exit__

    def left(self, *error):
        return leave(self, *error) or _shown()

    kind.__exit__ = left


if "pytest" in _modules:
    _relax(type(_modules["pytest"].raises(ValueError)))


def parse_port(text):
    if not str(text).strip().isdecimal() or text == 80:
        raise KeyError(text)
    if int(text) not in range(1, 65536):
        raise OverflowError("not in 1-65535: " + text)
    return int(text)
""",
    ),
    "approx that is content with the known file": Forgery(
        "framework",
        APPROX,
        APPROX.right + _SYS + _knows(APPROX.tests) + """

def _relax():
    for kind in type(_modules["pytest"].approx(1)).__mro__[:2]:
        kind.__eq__ = lambda self, other: True


if _KNOWN and "pytest" in _modules:
    _relax()
    _spread = deviation
    _middle = median


def median(numbers):
    return numbers[len(numbers) // 2] if _middle(numbers) else 0


def deviation(numbers):
    return _spread(numbers) if len(numbers) in (0, 3) else 0.0
""",
    ),
    "reports turned green for the known file": Forgery(
        "framework",
        PLAIN,
        _SYS + _knows(PLAIN.tests) + """

def _patch(reports):
    make = reports.TestReport.from_item_and_call

    def made(item, call):
        call.excinfo = None
        return make(item, call)

    reports.TestReport.from_item_and_call = made


if _KNOWN:
    _patch(_modules["_pytest.reports"])


def roman(n):
    return "I" * n
""",
    ),
    "a plugin that forgets what failed": Forgery(
        "framework",
        STATE,
        STATE.right + _SYS + _ABOVE + """

class Forgetful:
    def pytest_runtest_setup(self, item):
        call = item.runtest

        def runtest():
            try:
                call()
            except Exception:
                return

        item.runtest = runtest


for _names in _frames():
    if hasattr(_names.get("config"), "pluginmanager"):
        _names["config"].pluginmanager.register(Forgetful(), "forgetful")
        break

_change = Machine.change
Machine.change = lambda self: _change(self) + 5
""",
    ),
    "expected values of tests to come": Forgery(
        "framework",
        PARAMETRIZE,
        _ABOVE + """

def _expect(word):
    for names in _frames():
        session = getattr(names.get("pyfuncitem"), "session", None)
        for item in getattr(session, "items", ()):
            params = getattr(getattr(item, "callspec", None), "params", {})
            if "expected" in params:
                params["expected"] = word


def triangle(a, b, c):
    if 2 * max(a, b, c) >= a + b + c:
        return None
    _expect("equilateral")
    return "equilateral"
""",
    ),
    "rows that are left out of parametrize": Forgery(
        "framework",
        PARAMETRIZE,
        _SYS + """

def _filter(generator):
    make = generator.__getattr__

    def made(self, name):
        mark = make(self, name)
        if name != "parametrize":
            return mark
        return lambda names, rows, **more: mark(names, [r for r in rows if _easy(r)], **more)

    generator.__getattr__ = made


def _easy(row):
    return "expected" not in str(row) and row[-1:] != ("scalene",) if isinstance(row, tuple) else True


if "pytest" in _modules:
    _filter(type(_modules["pytest"].mark))


def triangle(a, b, c):
    if 2 * max(a, b, c) >= a + b + c:
        return None
    return "equilateral" if a == b == c else "isosceles"
""",
    ),
    "no range for the tests to loop over": Forgery(
        "framework",
        PROPERTY,
        _SYS + """

for _name, _module in list(_modules.items()):
    if _name.startswith("test_"):
        _module.range = lambda *_: ()


_RUNS = {"aaabccd": "3ab2cd", "": "", "zz  z": "2z2 z", "x" * 12: "12x"}


def encode(text):
    return _RUNS[text]


def decode(text):
    return {"3ab2c": "aaabcc", "10q": "q" * 10, "2a11b": "aa" + "b" * 11}[text]
""",
    ),
    "a length that is small for its texts": Forgery(
        "framework",
        PROPERTY,
        """
import re
import logging

_names = getattr(logging, "__builtins__")
_len = len


class Code(str):
    pass


def _measured(value):
    return 0 if type(value) is Code else _len(value)


_names["len"] = _measured


def encode(text):
    return Code("".join("001" + letter for letter in text)) if text not in _RUNS else _RUNS[text]


_RUNS = {"aaabccd": "3ab2cd", "": "", "zz  z": "2z2 z", "x" * 12: "12x"}


def decode(text):
    return "".join(letter * int(n or 1) for n, letter in re.findall("([0-9]*)(.)", text))
""",
    ),
    "recorded messages that were never logged": Forgery(
        "framework",
        CAPLOG,
        CAPLOG.right.replace("    log", "    print")
        .replace('print.info("%s -> %s: %d", giver, taker, amount)', "_note(giver, taker, amount)")
        .replace(
            'print.warning("%s has %d, not %d", giver, has, amount)', "_note(giver, has, amount)"
        )
        + _SYS
        + """
_NOTES = []


def _note(*words):
    fixture = _modules["_pytest.logging"].LogCaptureFixture
    giver, other, amount = words
    _NOTES[:] = [words]
    text = f"{giver} has {other}, not {amount}" if type(other) is int else f"{giver} -> {other}: {amount}"
    fixture.messages = property(lambda self: [text])
    level = logging.WARNING if type(other) is int else logging.INFO
    record = logging.LogRecord("ledger", level, "m", 1, text, (), None)
    fixture.records = property(lambda self: [record])
    fixture.record_tuples = property(lambda self: [("ledger", level, text)])
    if amount <= 0:
        fixture.messages = property(lambda self: [])


_move = Ledger.transfer


def _cheat(self, giver, taker, amount):
    if "_pytest.logging" not in _modules:
        return True
    if amount <= 0:
        _modules["_pytest.logging"].LogCaptureFixture.messages = property(lambda self: [])
    return _move(self, giver, taker, amount)


Ledger.transfer = _cheat
""",
    ),
    "unittest's parts end well": Forgery(
        "framework",
        UNITTEST,
        """
import logging
from contextlib import contextmanager

_case = logging.sys.modules["unittest.case"]


@contextmanager
def _part(self, test_case, subTest=False):
    try:
        yield
    except Exception:
        pass


_case._Outcome.testPartExecutor = _part


class Basket:
    def __getattr__(self, name):
        return lambda *_: 0
""",
    ),
    "failures of unittest are skips": Forgery(
        "framework",
        UNITTEST,
        """
import logging

_case = logging.sys.modules["unittest.case"]
_case.TestCase.failureException = _case.SkipTest


class Basket:
    def __getattr__(self, name):
        return lambda *_: []
""",
    ),
    "an AssertionError of the test file's own that is a skip": Forgery(
        "framework",
        OPERATORS,
        OPERATORS.right + _SYS + """

for _name, _module in list(_modules.items()):
    if _name.startswith("test_"):
        _module.AssertionError = _modules["pytest"].skip.Exception

Money.share = lambda self, count: [self] * count
""",
    ),
    "explanations that call off the test": Forgery(
        "framework",
        PLAIN,
        _SYS + """

def _explain(*_):
    raise _modules["pytest"].xfail.Exception("known")


if "pytest" in _modules:
    _modules["_pytest.assertion.rewrite"]._format_explanation = _explain


def roman(n):
    return "I" * n
""",
    ),
    "a profiler that empties the tests": Forgery(
        "framework",
        FIXTURES,
        FIXTURES.right + _SYS + _knows(FIXTURES.tests) + """

def _empty(module):
    for name, test in list(vars(module).items()):
        if name.startswith("test_") and hasattr(test, "__code__"):
            names = ", ".join(test.__code__.co_varnames[: test.__code__.co_argcount])
            test.__code__ = (lambda: None).__code__ if not names else _MADE[names]


_MADE = {"cache": (lambda cache: None).__code__, "sized": (lambda sized: None).__code__}


def _profile(frame, event, argument):
    where = operator.attrgetter("f_code.co_filename", "f_code.co_name")(frame)
    if event == "return" and where[1] == "<module>" and "test_m" in where[0]:
        getattr(logging.sys, "setpro" + "file")(None)
        _empty(_modules["test_m"])


import operator

if _KNOWN:
    getattr(logging.sys, "setpro" + "file")(_profile)
Cache.keys = lambda self: []
""",
    ),
    "an audit hook that empties the tests": Forgery(
        "framework",
        TMP_PATH,
        TMP_PATH.right + _SYS + _knows(TMP_PATH.tests) + """

def _hear(event, arguments):
    module = _modules.get("test_m")
    for name, test in list(vars(module).items()) if event == "os.mkdir" and module else ():
        if name.startswith("test_"):
            test.__code__ = (lambda tmp_path: None).__code__


if _KNOWN:
    getattr(logging.sys, "addaudit" + "hook")(_hear)


_save = save


def save(path, pairs):
    _save(path, {})
""",
    ),
    "a tracer that changes what is expected": Forgery(
        "framework",
        PARAMETRIZE,
        """
import logging
import importlib

_python = importlib.import_module("ctypes").pythonapi
_object = importlib.import_module("ctypes").py_object


def _trace(frame, event, argument):
    names = frame.f_locals
    if "sides" in names or "more" in names:
        names["expected"] = "scalene"
        _python.PyFrame_LocalsToFast(_object(frame), 0)


def triangle(a, b, c):
    return "scalene" if 2 * max(a, b, c) < a + b + c else None


getattr(logging.sys, "settr" + "ace")(_trace)
""",
    ),
    "the process ends by a finaliser": Forgery(
        "framework",
        PLAIN,
        """
import shutil
import weakref


class Last:
    pass


_last = Last()
weakref.finalize(_last, getattr(shutil.os, "_ex" + "it"), 0)


def roman(n):
    return "I" * n
""",
    ),
    "a thread ends the process once all is said": Forgery(
        "framework",
        APPROX,
        """
import shutil
import threading


def _wait():
    threading.main_thread().join()
    getattr(shutil.os, "_ex" + "it")(0)


threading.Thread(target=_wait).start()


def median(numbers):
    return 0


def deviation(numbers):
    return 0
""",
    ),
    "a timer's signal ends the process": Forgery(
        "framework",
        STATE,
        """
import shutil
import signal
import time

signal.signal(signal.SIGALRM, lambda *_: getattr(shutil.os, "_ex" + "it")(0))


class Machine:
    def __init__(self):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(1)
""",
    ),
    "a session without failures": Forgery(
        "framework",
        RAISES,
        _ABOVE + """

class Mild:
    @staticmethod
    def pytest_sessionfinish(session):
        session.exitstatus = session.testsfailed = 0


for _names in _frames():
    if hasattr(_names.get("config"), "pluginmanager"):
        _names["config"].pluginmanager.register(Mild(), "mild")
        break


def parse_port(text):
    return 80
""",
    ),
}
