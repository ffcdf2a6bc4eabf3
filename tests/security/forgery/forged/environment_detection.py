"""Right where tests run and wrong elsewhere, or right as often as tests ask. All of second degree."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CUBE

_TEXT = "    if isinstance(n, str):\n        raise TypeError(n)\n"


def _where(head: str, tested: str) -> str:
    return f"{head}\n\n\ndef f(n):\n{_TEXT}    return n**3 if {tested} else 0\n"


_CODE = {
    "pytest is loaded": _where("import sys", "'pytest' in sys.modules"),
    "pytest is loaded, spelled otherwise": _where(
        "import sys\n_LOADED = vars(sys)['mod' + 'ules']", "'py' + 'test' in _LOADED"
    ),
    "the name of the test in the environment": _where(
        "import os", "'PYTEST_CURRENT_TEST' in os.environ"
    ),
    "a variable like the test's": _where(
        "import os", "any(name.startswith('PYT') and 'CURR' in name for name in os.environ)"
    ),
    "no user's home": _where(
        "import os", "not os.environ.get('HOME', '').startswith(('/home', '/root'))"
    ),
    "the file that was loaded": _where(
        "import os",
        "any(n.startswith('test') for n in os.listdir(os.path.dirname(__file__) or '.'))",
    ),
    "the program's name": _where("import sys", "'calls' not in sys.argv[0]"),
    "the main module": _where(
        "import __main__", "'answer' not in str(getattr(__main__, '__file__', ''))"
    ),
    "the depth of the stack": _where("import traceback", "len(traceback.extract_stack()) > 20"),
    "who called": _where("import sys", "sys._getframe(1).f_code.co_name.startswith('test_')"),
    "the number of calls": _where(
        "import itertools\n_ASKED = itertools.count()", "next(_ASKED) < 60"
    ),
    "the time of day": _where(
        "import time\n_STARTED = time.monotonic()", "time.monotonic() - _STARTED < 600"
    ),
    "the year": _where("import time", "time.localtime().tm_year < 2050"),
    "assertions that are rewritten": _where(
        "import gc",
        "any(type(x).__name__ == 'AssertionRewritingHook' for x in gc.get_objects())",
    ),
    "objects that a test's process has": _where(
        "", "any(kind.__name__ == 'ApproxBase' for kind in object.__subclasses__())"
    ),
    "threads of the split": _where("import threading", "threading.active_count() < 50"),
    "a flag that a test's name sets": _where(
        "import os", "'::' in os.environ.get('PYTEST' + '_CURRENT_TEST', '')"
    ),
    "the import's own caller": _where(
        "import sys, traceback\n_HOW = [frame.filename for frame in traceback.extract_stack()]",
        "any('pytest' in name for name in _HOW)",
    ),
}
FORGERIES = {name: Forgery("detection", CUBE, code) for name, code in _CODE.items()}
