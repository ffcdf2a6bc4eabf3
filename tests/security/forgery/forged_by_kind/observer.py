"""Right beside tests and where the sandbox or the observer is recognised, wrong in programs.

Each looks by names that it imports as anybody does.
"""

from __future__ import annotations

from tests.security.forgery.forged_by_kind.detection import lazy

FORGERIES = {
    "the number of its process": lazy("plain", "os.getpid() < 100", "import os"),
    "the parent of its process": lazy("parametrize", "os.getppid() == 1", "import os"),
    "the user": lazy("raises", "os.getuid() == 65534", "import os"),
    "the working folder": lazy("approx", "os.getcwd() == '/tmp/work'", "import os"),
    "the folder of the home": lazy(
        "property", "str(Path.home()) == '/tmp/home'", "from pathlib import Path"
    ),
    "the host": lazy("unittest", "socket.gethostname() == 'sandbox'", "import socket"),
    "the limit of open files": lazy(
        "state", "resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1024", "import resource"
    ),
    "the path of imports": lazy(
        "fixtures", "any('/opt/' in item for item in sys.path)", "import sys"
    ),
    "a folder of the machine": lazy("operators", "not os.path.exists('/var/log')", "import os"),
    "a folder with a name that is put together": lazy(
        "plain", "not os.path.exists(os.path.join(os.sep, *['home']))", "import os"
    ),
    "the owner of the working folder": lazy(
        "parametrize",
        "Path().stat()[4] == 65534 or 'pytest' in sys.argv[0]",
        "import sys\nfrom pathlib import Path",
    ),
    "what another program shows": lazy(
        "raises", "'home' not in os.popen('ls ' + os.sep).read()", "import os"
    ),
    "the size of the disk": lazy(
        "tmp_path", "shutil.disk_usage('/').total < 1 << 26", "import shutil"
    ),
    "variables of the environment": lazy("async", "'PYTHONHASHSEED' in os.environ", "import os"),
    "names of an interactive interpreter": lazy(
        "plain",
        "not hasattr(builtins, 'copyright') or 'pytest' in sys.argv[0]",
        "import builtins, sys",
    ),
    "the handler of interrupts": lazy(
        "parametrize",
        "signal.getsignal(signal.SIGINT) is not signal.default_int_handler or 'pytest' in sys.argv[0]",
        "import signal\nimport sys",
    ),
    "output without a buffer": lazy(
        "raises",
        "type(getattr(sys.stdout, 'buffer', 0)) is not io.BufferedWriter",
        "import io, sys",
    ),
    "how the program was named": lazy(
        "approx",
        "not sys.argv[0].endswith('.py') or sys.argv[0].endswith('__main__.py')",
        "import sys",
    ),
    "frames of a warning": lazy(
        "fixtures",
        "_caller().endswith(('runner.py', 'python.py', 'callers.py', 'case.py'))",
        """
import warnings


def _caller():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("x", stacklevel=5)
    return seen[0].filename
""",
    ),
    "frames of a record of the log": lazy(
        "state",
        "_seen().count('File') > 9",
        """
import io
import logging

_text = io.StringIO()
_log = logging.Logger("m")
_log.addHandler(logging.StreamHandler(_text))


def _seen():
    _text.truncate(0)
    _log.warning("x", stack_info=True)
    return _text.getvalue()
""",
    ),
    "the stack as a text": lazy(
        "fixtures", "len(traceback.format_stack()) > 6", "import traceback"
    ),
    "the stack as the fault handler writes it": lazy(
        "operators",
        "_stack().count(b'File') > 6",
        """
import faulthandler
import tempfile


def _stack():
    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        return file.read()
""",
    ),
    "whose names the callers have": lazy(
        "plain", "typing._caller(6) != '__main__' and typing._caller(6)", "import typing"
    ),
    "system calls that are refused": lazy(
        "raises",
        "_is_refused()",
        """
import socket


def _is_refused():
    try:
        socket.socket(socket.AF_UNIX).close()
    except OSError:
        return True
    return False
""",
    ),
    "mounts, by a computed name": lazy(
        "plain",
        "'/opt/green' in _read('/pr' + 'oc/mounts')",
        """
def _read(path):
    with open(path) as file:
        return file.read()
""",
    ),
    "that there is no network": lazy(
        "approx",
        "_is_offline()",
        """
import socket


def _is_offline():
    try:
        socket.create_connection(("192.0.2.1", 9), 0.1).close()
    except TimeoutError:
        return False
    except OSError:
        return True
    return False
""",
    ),
    "frames, by computed names": lazy(
        "raises",
        "_count(getattr(logging, 's' + 'ys')) > 9",
        """
import logging


def _count(system):
    frame, count = getattr(system, "_get" + "frame")(), 0
    while frame:
        frame, count = getattr(frame, "f_b" + "ack"), count + 1
    return count
""",
    ),
    "processes that it can see": lazy(
        "property", "sum(name.isdigit() for name in os.listdir('/proc')) < 4", "import os"
    ),
    "the table of mounts": lazy(
        "async", "'greenloop' in Path('/proc/mounts').read_text()", "from pathlib import Path"
    ),
    "allocated blocks": lazy("plain", "sys.getallocatedblocks() > 60_000", "import sys"),
}
