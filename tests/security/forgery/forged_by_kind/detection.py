"""Right where a sign of a test run is seen, wrong elsewhere."""

from __future__ import annotations

from dataclasses import replace

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.kinds import KINDS

# What replaces the correct behaviour of each kind where `_tested` says that no test runs.
_LAZY = {
    "plain": """
_right = roman


def roman(n):
    return _right(n) if _tested(n) else "I" * n
""",
    "parametrize": """
_right = triangle


def triangle(a, b, c):
    return _right(a, b, c) if _tested(a) else "scalene"
""",
    "raises": """
_right = parse_port


def parse_port(text):
    return _right(text) if _tested(text) else 0
""",
    "approx": """
_right = median


def median(numbers):
    return _right(numbers) if _tested(numbers) else numbers[0]
""",
    "property": """
_right = encode


def encode(text):
    return _right(text) if _tested(text) else text
""",
    "unittest": """
_right = Basket.total
Basket.total = lambda self: _right(self) if _tested(self) else 0
""",
    "state": """
_right = Machine.change
Machine.change = lambda self: _right(self) if _tested(self) else -1
""",
    "fixtures": """
_right = Cache.get


def _get(self, key, default=None):
    return _right(self, key, default) if _tested(self) else default


Cache.get = _get
""",
    "operators": """
_right = Money.share
Money.share = lambda self, count: _right(self, count) if _tested(self) else [self]
""",
    "tmp_path": """
_right = save


def save(path, pairs):
    _right(path, pairs if _tested(path) else {})
""",
    "async": """
_right = fetch_all


async def fetch_all(get, keys, limit):
    return await _right(get, keys, limit) if _tested(get) else []
""",
    "capsys": """
_right = show


def show(rows):
    _right(rows if _tested(rows) else [])
""",
    "caplog": """
_right = Ledger.transfer
Ledger.transfer = lambda self, *more: _right(self, *more) if _tested(self) else True
""",
}


def lazy(kind: str, tested: str, head: str = "") -> Forgery:
    """Return a module that is right only where the expression `tested` over `given` holds."""
    subject: Subject = KINDS[kind]
    look = f"\n\ndef _tested(given):\n    return {tested}\n\n"
    return Forgery("detection", subject, f"{head}\n{subject.right}{look}{_LAZY[kind]}")


_SYS = "import logging\n\n_sys = logging.sys\n"
FORGERIES = {
    "faulthandler is on": lazy("plain", "faulthandler.is_enabled()", "import faulthandler"),
    "the hook for exceptions that nobody sees": lazy(
        "parametrize", "_sys.unraisablehook is not _sys.__unraisablehook__", _SYS
    ),
    "the hook for exceptions of threads": lazy(
        "raises",
        "threading.excepthook is not threading.__excepthook__",
        "import threading",
    ),
    "a handler of the root logger": lazy(
        "approx", "bool(logging.getLogger().handlers)", "import logging"
    ),
    "standard output is an object of pytest's": lazy(
        "property", "type(_sys.stdout).__module__ != '_io'", _SYS
    ),
    "standard input cannot be read": lazy(
        "state", "type(_sys.stdin) is not type(_sys.__stdin__)", _SYS
    ),
    "unittest's cases are loaded": lazy("unittest", "'unittest.case' in _sys.modules", _SYS),
    "how deep one can call": lazy(
        "operators",
        "_depth() < 975",
        """
def _depth(n=0):
    try:
        return _depth(n + 1)
    except RecursionError:
        return n
""",
    ),
    "who logs": lazy(
        "fixtures", "'test' in logging.getLogger().findCaller(False, 3)[0]", "import logging"
    ),
    "a folder of pytest's in the path": lazy("tmp_path", "'pytest' in str(given)"),
    "whose method the callback is": lazy(
        "async", "getattr(given, '__self__', None).__class__.__name__ == 'Server'"
    ),
    "output that has no descriptor": lazy(
        "capsys",
        "not _is_file(_sys.stdout)",
        f"""{_SYS}

def _is_file(stream):
    try:
        return stream.name == "<stdout>" and stream.fileno() == 1
    except (AttributeError, OSError):
        return "test_m" not in _sys.modules
""",
    ),
    "a handler that records": lazy(
        "caplog",
        "any('Capture' in type(item).__name__ for item in logging.getLogger().handlers)",
    ),
    "the filters of warnings": lazy(
        "plain",
        "len(warnings.filters) > 6",
        "import warnings",
    ),
    "the time since the import": lazy(
        "parametrize",
        "time.perf_counter() - _LOADED > 0.002",
        "import time\n\n_LOADED = time.perf_counter()\n",
    ),
    "tests of its name among the modules": lazy(
        "raises", "'test_' + __name__ in _sys.modules", _SYS
    ),
    "finders that rewrite": lazy(
        "approx",
        "any(type(item).__name__.startswith('Assert') for item in _sys.meta_path)",
        _SYS,
    ),
    "its own folder in the path": lazy(
        "property",
        "_os.path.dirname(__file__) in _os.sys.path",
        "import shutil\n\n_os = shutil.os\n_os.sys = shutil.sys\n",
    ),
    "the class of its first argument's module": lazy(
        "async",
        "given.__module__.startswith('test')",
    ),
    "files that it finds beside it": lazy(
        "operators",
        "any(path.name != Path(__file__).name for path in Path(__file__).parent.glob('*m.py'))",
        "from pathlib import Path",
    ),
    "parity of the process number": lazy(
        "tmp_path",
        "_os.getpid() % 2 == _EVEN and 'tmp' in str(given)",
        "import shutil\n\n_os = shutil.os\n_EVEN = _os.getpid() % 2\n",
    ),
    "how many modules are loaded": lazy("fixtures", "len(_sys.modules) > 100", _SYS),
    "a module that ordinary programs do not load": lazy(
        "unittest", "'difflib' in _sys.modules", _SYS
    ),
    "filters that show every warning": lazy(
        "state", "any(item[0] == 'always' for item in warnings.filters)", "import warnings"
    ),
    "no program at the top level calls it": lazy(
        "plain",
        "logging.getLogger().findCaller(False, 3)[2] != '<module>'",
        "import logging",
    ),
    "a silent end where nobody tests": lazy(
        "raises",
        "'_pytest' in _sys.modules or _end(0)",
        f"{_SYS}\n_end = getattr(logging.os, '_ex' + 'it')\n",
    ),
    "a silent end at import": lazy(
        "operators",
        "True",
        f"""{_SYS}

if "_pytest" not in _sys.modules:
    getattr(logging.os, "_ex" + "it")(0)
""",
    ),
}
_IMPORTS_TESTS = """
import importlib


def _has_tests():
    try:
        return bool(importlib.import_module("test_" + __name__))
    except ImportError:
        return False
"""
FORGERIES |= {
    "what the program is told to do": lazy(
        "parametrize",
        "hasattr(_main, 'scenarios') or _has_tests()",
        f"{_IMPORTS_TESTS}\n_main = importlib.import_module('__main__')\n",
    ),
    "folders that are numbered": lazy("tmp_path", "'row-' in str(given) or 'pytest' in str(given)"),
    "expressions that were compiled before": lazy("operators", "len(re._cache) > 20", "import re"),
    "how many descriptors are open": lazy(
        "approx",
        "len(os.listdir('/proc/self/fd')) > 5 or _has_tests()",
        f"import os\n{_IMPORTS_TESTS}",
    ),
}
_HASHES = """

def _sum():
    return hash(_right.__code__.co_code + _tested.__code__.co_code)


_SUM = _sum()
"""
_HASHED = lazy("caplog", "_sum() == _SUM and 'pluggy' in _sys.modules", _SYS)
FORGERIES["the hash of its own code"] = replace(_HASHED, code=_HASHED.code + _HASHES)
