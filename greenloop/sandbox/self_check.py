"""Self-check that files, network, sockets, environment and processes of the host are hidden."""

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.errors import SandboxError
from greenloop.records import TestRun
from greenloop.sandbox.base import Sandbox, build_environment

_MODULE_SOURCE = """
import os
import socket


def succeeds(action, *arguments):
    try:
        return bool(action(*arguments))
    except OSError:
        return False


def reads(path):
    return succeeds(lambda: open(path, "rb").read(1))


def connects(port):
    return succeeds(socket.create_connection, ("127.0.0.1", port), 1)


def connects_by_name(address):
    return succeeds(lambda: socket.socket(socket.AF_UNIX).connect(address) is None)


def sees(names):
    return any(name in os.environ for name in names)


def reaches(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return "greenloop" if pid != os.getpid() else False


def changes(path):
    for change in (
        lambda: open(path, "w").close(),
        lambda: os.truncate(path, 0),
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path, (1, 1)),
        lambda: os.rename(path, path + "-moved"),
        lambda: os.unlink(path),
        lambda: open(path + "-new", "x").close(),
    ):
        try:
            change()
        except OSError:
            pass


def adds(a, b):
    return a + b
"""
_TEST_SOURCE = """
import canary


def test_adds():
    assert canary.adds(1, 2) == 3
"""
_TEST_OF_CALL = """

def test_call_{number}():
    answer = canary.{call}
    assert answer is {right!r}, f"returned {{answer!r}}"
"""
_IMPLICIT_VARIABLES = ("PYTHONPATH", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", "LC_CTYPE")


def check_isolation(sandbox: Sandbox) -> None:
    """Run tests of code that tries to reach the host, and an ordinary test.

    Raises SandboxError if a test does not pass or something of the host can be reached.
    """
    with _create_decoys() as decoys:
        before = decoys.file_state()
        calls = list(decoys.calls().items())
        tests = (
            _TEST_OF_CALL.format(number=number, call=call, right=right)
            for number, (call, right) in enumerate(calls)
        )
        run = sandbox.run_tests(
            _MODULE_SOURCE, "".join((_TEST_SOURCE, *tests)), module="canary", plain_asserts=True
        )
        has_changed = decoys.file_state() != before
    if why := _describe_breach(run, [call for call, _ in calls]):
        raise SandboxError(f"{sandbox.info.backend}: the isolation does not hold: {why}")
    if not run.passed:
        raise SandboxError(f"{sandbox.info.backend}: ordinary tests do not pass: {run}")
    if has_changed:
        raise SandboxError(
            f"{sandbox.info.backend}: the isolation does not hold: a file of the host was changed"
        )


def _describe_breach(run: TestRun, calls: Sequence[str]) -> str:
    """Return the first call that reached the host, and its result; '' if none did."""
    for failure in run.failures:
        _, found, number = failure.test.rpartition("::test_call_")
        if found:
            return f"{calls[int(number)]} {failure.message}"
    return ""


@dataclass(frozen=True, slots=True)
class _HostDecoys:
    """Secret files in the home (if writable) and temporary folder, and listening sockets."""

    folders: tuple[Path, ...]
    port: int
    addresses: tuple[str, ...]

    def calls(self) -> dict[str, Any]:
        """Return the calls to try, with the result that each must have."""
        files = [str(folder / "secret") for folder in self.folders]
        return {
            **{f"reads({path!r})": False for path in files},
            f"reads('/proc/{os.getpid()}/environ')": False,
            f"connects({self.port})": False,
            **{f"connects_by_name({address!r})": False for address in self.addresses},
            f"sees({_list_host_variables()!r})": False,
            f"reaches({os.getpid()})": False,
            **{f"changes({path!r})": None for path in files},
        }

    def file_state(self) -> list[Any]:
        """Return path, mode, time, size and content of each file that could be changed."""
        found: list[Any] = []
        for folder in self.folders:
            for path in sorted(folder.iterdir()):
                state = path.lstat()
                text = path.read_text() if path.name.startswith("secret") else ""
                found.append((str(path), state.st_mode, state.st_mtime_ns, state.st_size, text))
        return found


@contextmanager
def _create_decoys() -> Iterator[_HostDecoys]:
    with ExitStack() as stack:
        created = [
            tempfile.TemporaryDirectory(prefix=".greenloop-canary-", dir=parent)
            for parent in _list_parent_folders()
        ]
        folders = tuple(Path(stack.enter_context(folder)) for folder in created)
        for folder in folders:
            (folder / "secret").write_text(secrets.token_hex(8))
        addresses = tuple(_listen_at_addresses(stack, folders[-1]))
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        yield _HostDecoys(folders, tcp.getsockname()[1], addresses)


def _list_host_variables() -> list[str]:
    """Return the environment variables that a run must not see."""
    known = {*build_environment("", "", 0), *_IMPLICIT_VARIABLES}
    return sorted(name for name in os.environ if name not in known)


def _list_parent_folders() -> list[str]:
    home, temporary = os.path.expanduser("~"), tempfile.gettempdir()
    writable = os.path.isdir(home) and os.access(home, os.W_OK)
    return [home, temporary] if writable else [temporary]


def _listen_at_addresses(stack: ExitStack, folder: Path) -> Iterator[str]:
    """Listen at a socket with a path, and on Linux at an abstract one; yield their addresses."""
    abstract = f"\0greenloop-{secrets.token_hex(8)}"
    for address in (str(folder / "socket"), abstract):
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        try:
            listening.bind(address)
        except OSError:
            if address != abstract:
                raise
            continue
        listening.listen()
        yield address
