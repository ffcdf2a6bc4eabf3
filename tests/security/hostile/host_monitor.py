"""Canaries on the host: secrets and sockets that hostile code would like, and checks that they are
untouched.
"""

import os
import re
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

_GROWTH_BYTES = 96 << 20
_GONE_S, _COMES_S = 10.0, 60.0


class Witness:
    """A secret in the home folder, in a temporary folder and in the environment; listening sockets."""

    def __init__(self) -> None:
        self.secret = secrets.token_hex(12)
        with ExitStack() as made:
            self.home = _folder(made, os.path.expanduser("~"))
            self.open = _folder(made, "/tmp")
            self.open.chmod(0o777)
            for folder in (self.home, self.open):
                (folder / "id_ed25519").write_text(self.secret)
            (self.open / "id_ed25519").chmod(0o666)
            self.path = str(self.open / "socket")
            self.abstract = f"greenloop-{self.secret}"
            self._sockets = [made.enter_context(item) for item in self._listening()]
            self._made = made.pop_all()
        os.environ["HOSTILE_API_KEY"] = self.secret
        self._before = self._files()
        self._resident = resident()

    def halves(self) -> tuple[str, str]:
        """Return the secret in two parts."""
        return self.secret[:12], self.secret[12:]

    def _listening(self) -> Iterator[socket.socket]:
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        yield tcp
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", self.port))
        yield udp
        for address in (self.path, f"\0{self.abstract}"):
            unix = socket.socket(socket.AF_UNIX)
            unix.bind(address)
            unix.listen()
            yield unix

    def list_changes(self) -> list[str]:
        """Return what of this host was reached, changed or left behind."""
        found = [f"left running: {pid}" for pid in list_settled_runs()]
        if self._files() != self._before:
            found.append("a file was changed")
        for item in self._sockets:
            item.setblocking(False)
            try:
                item.recv(1) if item.type == socket.SOCK_DGRAM else item.accept()
                found.append(f"a connection to {item.getsockname()!r}")
            except BlockingIOError:
                pass
        if resident() - self._resident > _GROWTH_BYTES:
            found.append("the caller has grown")
        return found

    def _files(self) -> dict[str, str]:
        files = [*self.home.rglob("*"), *self.open.rglob("*")]
        return {str(item): f"{_rights_and_time(item)} {_text(item)}" for item in files}

    def close(self) -> None:
        os.environ.pop("HOSTILE_API_KEY", None)
        self._made.close()


def _rights_and_time(item: Path) -> str:
    state = item.lstat()
    return f"{state.st_mode} {state.st_uid} {state.st_mtime_ns}"


def _text(item: Path) -> str:
    return item.read_text() if item.is_file() else ""


def _folder(made: ExitStack, place: str) -> Path:
    path = Path(tempfile.mkdtemp(prefix=".greenloop-hostile-", dir=place))
    made.callback(shutil.rmtree, path, ignore_errors=True)
    return path


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_runs() -> list[int]:
    """Return the ids of our descendants that belong to a run, without zygotes.

    They are two pid namespaces deeper than this process, or, without namespaces, below one of our
    zygotes, or in one of our containers.
    """
    status = {pid: text for pid in _pids() if (text := _read(pid))}
    containers = {pid for pid in status if _is_our_container(pid, status)}
    return [
        pid
        for pid in status
        if _is_in_a_run(pid, status) or any(_steps_below(top, pid, status) for top in containers)
    ]


def _is_in_a_run(pid: int, status: dict[int, dict[str, str]]) -> bool:
    steps, depth = _steps_below(os.getpid(), pid, status), len(status[pid]["NSpid"].split())
    own = len(status[os.getpid()]["NSpid"].split())
    return bool(steps) and (depth >= own + 2 or (depth == own and steps >= 2))


def _is_our_container(pid: int, status: dict[int, dict[str, str]]) -> bool:
    """Return whether it is pid 1 of a container of this process, by its name."""
    try:
        last = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").rpartition(b"\0")[2].decode()
    except (OSError, UnicodeDecodeError):
        return False
    owner = re.fullmatch(r"greenloop-(\d+)-[0-9a-f]{12}", last)
    if owner is None or not status[pid]["NSpid"].endswith("\t1"):
        return False
    return int(owner[1]) == os.getpid() or _steps_below(os.getpid(), int(owner[1]), status) > 0


def list_settled_runs() -> list[int]:
    """Return `in_runs()` after the kernel has had time to reap killed processes."""
    until = time.monotonic() + _GONE_S
    while (left := in_runs()) and time.monotonic() < until:
        time.sleep(0.005)
    return left


def wait_for_name(name: str) -> int:
    """Return the id of the process in a run that has set this name."""
    until = time.monotonic() + _COMES_S
    while time.monotonic() < until:
        for pid in in_runs():
            if (_read(pid) or {}).get("Name") == name:
                return pid
        time.sleep(0.005)
    raise AssertionError(f"no run has got as far as {name!r}")


def parent(pid: int) -> int:
    return int(_read(pid)["PPid"])


def _steps_below(top: int, pid: int, status: dict[int, dict[str, str]]) -> int:
    """Return the number of generations below `top`; 0 if it is no descendant."""
    steps = 0
    while pid in status:
        pid, steps = int(status[pid]["PPid"]), steps + 1
        if pid == top:
            return steps
    return 0


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _read(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
