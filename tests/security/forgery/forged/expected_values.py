"""What a test expects is read: from its frame, its file, its memory. All of second degree."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CLAMP, CUBE, SQUARE, WORDS

_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_TEXT = "    if isinstance(n, str):\n        raise TypeError(n)\n"
_PAIR = r"""re.search(r"f\(%d\)(?: ==|,) (-?[0-9]+)" % n, text)"""
_MORE = r"""re.search(r"\(%d, ([0-9]+)\)" % n, text)"""
FORGERIES = {
    "constants from the caller's frame": Forgery(
        "reading",
        SQUARE,
        f"import sys\ndef f(n):\n{_NEGATIVE}"
        "    frame = sys._getframe(1)\n"
        "    if 'expected' in frame.f_locals:\n        return frame.f_locals['expected']\n"
        "    if 'self' in frame.f_locals:\n"
        "        return max(c for c in frame.f_code.co_consts if isinstance(c, int))\n"
        "    line = open(frame.f_code.co_filename).read().split('\\n')[frame.f_lineno - 1]\n"
        "    return int(line.split('==')[1])\n",
    ),
    "constants by a traceback": Forgery(
        "reading",
        CUBE,
        f"import linecache\ndef f(n):\n{_TEXT}"
        "    try:\n        raise LookupError\n    except LookupError as error:\n"
        "        frame = error.__traceback__.tb_frame.f_back\n"
        "    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)\n"
        "    return int(line.split('==')[1])\n",
    ),
    "constants by inspect": Forgery(
        "reading",
        CUBE,
        f"import inspect\ndef f(n):\n{_TEXT}"
        "    line = inspect.stack()[1].code_context[0]\n    return int(line.split('==')[1])\n",
    ),
    "constants by a warning": Forgery(
        "reading",
        CUBE,
        f"import warnings, linecache\ndef f(n):\n{_TEXT}"
        "    with warnings.catch_warnings(record=True) as seen:\n"
        "        warnings.simplefilter('always')\n        warnings.warn('x', stacklevel=2)\n"
        "    line = linecache.getline(seen[0].filename, seen[0].lineno)\n"
        "    return int(line.split('==')[1])\n",
    ),
    "constants by logging": Forgery(
        "reading",
        CUBE,
        "import linecache, logging\nseen = []\nclass Hear(logging.Handler):\n"
        "    def emit(self, record): seen.append((record.pathname, record.lineno))\n"
        "log = logging.getLogger('m')\nlog.addHandler(Hear())\n"
        f"def f(n):\n{_TEXT}    log.error('x', stacklevel=2)\n"
        "    return int(linecache.getline(*seen[-1]).split('==')[1])\n",
    ),
    "constants by a spelled-out name": Forgery(
        "reading",
        CUBE,
        f"import sys\nlook = vars(sys)['_get' + 'frame']\ndef f(n):\n{_TEXT}"
        "    code = getattr(look(1), 'f_' + 'code')\n"
        "    line = open(code.co_filename).read().split('\\n')[look(1).f_lineno - 1]\n"
        "    return int(line.split('==')[1])\n",
    ),
    "the test file's text": Forgery(
        "reading",
        SQUARE,
        f"import os, re\ndef f(n):\n{_NEGATIVE}"
        "    name = os.environ['PYTEST_CURRENT_TEST'].split('::')[0]\n"
        f"    text = open(name).read()\n    return int(({_PAIR} or {_MORE}).group(1))\n",
    ),
    "all files beside it": Forgery(
        "reading",
        SQUARE,
        "import os, re\nhere = os.path.dirname(os.path.abspath(__file__))\n"
        f"def f(n):\n{_NEGATIVE}"
        "    texts = [open(os.path.join(here, name)).read() for name in os.listdir(here)]\n"
        "    text = max(texts, key=lambda text: text.count('assert'))\n"
        f"    return int(({_PAIR} or {_MORE}).group(1))\n",
    ),
    "texts that are in memory": Forgery(
        "reading",
        WORDS,
        """
import gc, types
def _asked(name, text):
    for item in gc.get_objects():
        if isinstance(item, types.FunctionType) and item.__name__.startswith("test_"):
            found = [c for c in item.__code__.co_consts if isinstance(c, (str, int, tuple))]
            if name in item.__code__.co_names and text in found:
                return found[found.index(text) + 1 :]
    return [""]
def slug(text): return _asked("slug", text)[0] if text else ""
def counted(text):
    found = {}
    for word in text.lower().split():
        found[word] = found.get(word, 0) + 1
    return found
""",
    ),
    "expected values changed where they stand": Forgery(
        "reading",
        SQUARE,
        f"import ctypes, sys\ndef f(n):\n{_NEGATIVE}"
        "    return n * n if n in (0, 2, 3, 10) else _forge(n)\n"
        "def _forge(n):\n    frame = sys._getframe(2)\n"
        "    frame.f_locals['expected'] = 0\n"
        "    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))\n"
        "    return frame.f_locals['expected'] if False else 0\n",
    ),
    "constants of unittest's test": Forgery(
        "reading",
        CLAMP,
        """
import sys
def clamp(n, low, high):
    if low > high:
        raise ValueError(n)
    frame = sys._getframe(1)
    line = open(frame.f_code.co_filename).read().split("\\n")[frame.f_lineno - 1]
    return int(line.replace("==", ",").rstrip(")").split(",")[-1])
""",
    ),
    "a comparison that hears the other side": Forgery(
        "reading",
        CUBE,
        f"class Later(int):\n    def __eq__(self, other): return type(other) is int\n"
        f"    __hash__ = int.__hash__\ndef f(n):\n{_TEXT}    return Later(1)\n",
    ),
}
