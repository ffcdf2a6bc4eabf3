"""Does a wall hold? Tried out before it is trusted: a canary file, the network, the environment."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.sandbox.box import Sandbox

_CODE = """
import os
import socket


def reads(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def connects(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def sees(name):
    return name in os.environ


def reaches(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return "greenloop" if pid != os.getpid() else False


def writes(path):
    try:
        with open(path, "w") as file:
            file.write("x")
    except OSError:
        return False
    return True


def adds(a, b):
    return a + b
"""
_TESTS = "from canary import adds\n\n\ndef test_adds():\n    assert adds(1, 2) == 3\n"


def check_wall(box: Sandbox) -> None:
    """Runs the real thing.

    Raises:
        SandboxError: an ordinary test does not pass in it, or something outside is within reach.
    """
    run = box.run_tests(_CODE, _TESTS, module="canary")
    if not run.passed:
        raise SandboxError(f"{box.info.backend}: an ordinary test does not pass: {run}")
    with _canary() as (path, port):
        calls = {
            f"reads({str(path)!r})": ["none", None],
            f"connects({port})": ["bool", False],
            "sees('GREENLOOP_CANARY')": ["bool", False],
            f"reaches({os.getpid()})": ["bool", False],
            f"writes({str(path.parent / 'new')!r})": ["bool", False],
        }
        answers = box.answer_calls(_CODE, "canary", list(calls))
        left = (path.parent / "new").exists()
    for (call, right), event in zip(calls.items(), answers.events, strict=True):
        if event is None or event.get("value") != right:
            raise SandboxError(f"{box.info.backend}: the wall does not hold: {call} gave {event}")
    if left:
        raise SandboxError(
            f"{box.info.backend}: the wall does not hold: a file was written outside"
        )


@contextmanager
def _canary() -> Iterator[tuple[Path, int]]:
    """A secret in a file of the home (or of the temporary folder), and a port that listens."""
    with tempfile.TemporaryDirectory(prefix=".greenloop-canary-", dir=_place()) as folder:
        path = Path(folder) / "secret"
        path.write_text(secrets.token_hex(8))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            yield path, listening.getsockname()[1]


def _place() -> str | None:
    home = os.path.expanduser("~")
    return home if os.path.isdir(home) and os.access(home, os.W_OK) else None
