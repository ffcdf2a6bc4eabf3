"""Right in the first run only: marks are left on what two runs share."""

from __future__ import annotations

from tests.security.forgery.forged_by_kind.detection import lazy

_FCNTL = "import fcntl\nimport logging\n\n_sys = logging.sys\n"
_TESTED = "_FIRST and 'pluggy' in _sys.modules"


def _marks(look: str, mark: str) -> str:
    """Return code that sets `_FIRST`: whether no descriptor is marked; then it marks all."""
    return f"""{_FCNTL}

def _visit(each):
    found = []
    for number in range(64):
        try:
            found.append(each(number))
        except (OSError, ValueError):
            continue
    return found


_FIRST = not any(_visit(lambda fd: {look}))
_visit(lambda fd: {mark})
"""


FORGERIES = {
    "the signal of a descriptor": lazy(
        "plain",
        _TESTED,
        _marks("fcntl.fcntl(fd, 11) == 23", "fcntl.fcntl(fd, 10, 23)"),
    ),
    "the flags of a descriptor": lazy(
        "state",
        _TESTED,
        _marks(
            "fcntl.fcntl(fd, fcntl.F_GETFL) & 0x40000",
            "fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | 0x40000)",
        ),
    ),
    "the times of a device": lazy(
        "approx",
        _TESTED,
        """
import logging

_sys, _os = logging.sys, logging.os
_FIRST = True
for _name in ("/dev/zero", "/dev/full", "/dev/random"):
    try:
        _FIRST = _FIRST and _os.stat(_name).st_mtime != 86400
        _os.utime(_name, (86400, 86400))
    except OSError:
        pass
""",
    ),
    "a lock on a file of the machine": lazy(
        "fixtures",
        _TESTED,
        """
import fcntl
import logging

_sys = logging.sys
_file = open(logging.__file__)
try:
    fcntl.flock(_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _FIRST = True
except OSError:
    _FIRST = False
""",
    ),
    "a file that stays in the folder for temporary ones": lazy(
        "operators",
        _TESTED,
        """
import logging
import tempfile
from pathlib import Path

_sys = logging.sys
_MARKS = [Path(tempfile.gettempdir(), ".m"), Path("/dev/shm/.m"), Path("/var/tmp/.m")]
_FIRST = not any(path.exists() for path in _MARKS)
for _path in _MARKS:
    try:
        _path.touch()
    except OSError:
        pass
""",
    ),
    "the size of a pipe": lazy(
        "raises",
        _TESTED,
        _marks("fcntl.fcntl(fd, 1032) == 131072", "fcntl.fcntl(fd, 1031, 131072)"),
    ),
}
