"""The process ends before a test can fail, or the test ends without a verdict. All of first degree."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CLAMP, CUBE, SQUARE

_CODE = {
    "_exit at import": "import os\nos._exit(0)\ndef f(n): return 0\n",
    "_exit at call": "import os\ndef f(n): os._exit(0)\n",
    "_exit at exit": "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return 0\n",
    "_exit at exit, all output lost": """
import atexit, os
def last():
    for handle in range(3, 256):
        try:
            os.close(handle)
        except OSError:
            pass
    os._exit(0)
atexit.register(last)
def f(n): return 0
""",
    "_exit by a spelled name": """
leave = getattr(__import__("".join(["o", "s"])), "".join(reversed("tixe_")))
def f(n): leave(0)
""",
    "_exit out of decoded text": """
import base64
def f(n): exec(base64.b64decode("aW1wb3J0IG9zOyBvcy5fZXhpdCgwKQ=="))
""",
    "_exit from a thread, later": """
import os, threading
threading.Timer(0.2, os._exit, (0,)).start()
import time
def f(n):
    time.sleep(1)
    return 0
""",
    "_exit by a signal's handler": """
import os, signal
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.2)
import time
def f(n):
    time.sleep(1)
    return 0
""",
    "_exit when something is forgotten": """
import os
class Last:
    def __del__(self): os._exit(0)
def f(n):
    Last()
    return 0
""",
    "_exit of the C library": "import ctypes\ndef f(n): ctypes.CDLL(None)._exit(0)\n",
    "sys.exit at call": "import sys\ndef f(n): sys.exit(0)\n",
    "sys.exit at import": "import sys\nsys.exit(0)\ndef f(n): return 0\n",
    "KeyboardInterrupt": "def f(n): raise KeyboardInterrupt\n",
    "a signal to itself": "import os, signal\ndef f(n): os.kill(os.getpid(), signal.SIGTERM)\n",
    "another program in its place": (
        "import os, sys\ndef f(n): os.execv(sys.executable, [sys.executable, '-c', ''])\n"
    ),
    "a child goes on": """
import os
def f(n):
    if os.fork():
        os._exit(0)
    return 0
""",
    "a child for each test": """
import os
def f(n):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    return 0
""",
    "pytest.exit": "import pytest\ndef f(n): pytest.exit('done', returncode=0)\n",
    "faulthandler": """
import faulthandler, os
faulthandler.dump_traceback_later(0.2, exit=True, file=open(os.devnull, "w"))
import time
def f(n):
    time.sleep(1)
    return 0
""",
    "an audit hook that ends it": """
import os, sys
def hear(event, arguments):
    if event == "os.remove" or event.startswith("shutil"):
        os._exit(0)
sys.addaudithook(hear)
def f(n): return 0
""",
    "skip": "import pytest\ndef f(n): pytest.skip('not today')\n",
    "skip of the whole module": (
        "import pytest\npytest.skip('not here', allow_module_level=True)\ndef f(n): return 0\n"
    ),
    "xfail": "import pytest\ndef f(n): pytest.xfail('known')\n",
    "skip without a trace of pytest": """
import sys
def f(n):
    raise vars(vars(sys)["mod" + "ules"]["_py" + "test.outcomes"])["Sk" + "ipped"]("no")
""",
}
FORGERIES = {name: Forgery("framework", SQUARE, code) for name, code in _CODE.items()} | {
    "SkipTest": Forgery(
        "framework", CLAMP, "import unittest\ndef clamp(*_): raise unittest.SkipTest('not today')\n"
    ),
    "all tests marked as expected to fail": Forgery(
        "framework",
        CUBE,
        """
import gc, pytest
def f(n):
    for item in gc.get_objects():
        if type(item).__name__ == "Function" and hasattr(item, "own_markers"):
            item.add_marker(pytest.mark.xfail(strict=False))
    return 0
""",
    ),
}
