"""The native wall: a root of its own made by system calls, then the zygote inside it.

Run by a bare Python (`-I -S`) as `python -m`-less script: `enter(spec)` does not return. No package
has to be installed for it, and it also works for root with Python below its home: what is bound in
is opened before the user changes to nobody.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from . import syscalls as k

_NOBODY = 65534
_ROOT = "/tmp"  # the new root is built over it, in a mount namespace that nobody else sees
_OLD = "/.old"
_FIRST_OWN, _MOST_FILES = 3, 4096
_DEVICES = ("null", "zero", "full", "random", "urandom")
_TMPFS = k.MS_NOSUID | k.MS_NODEV


def enter(spec: dict[str, Any], command: list[str], environment: dict[str, str]) -> int:
    """Starts `command` behind the wall and waits for it: its exit status.

    `spec`: `read_only` [[source, target]], `links` [[target, path]], `hidden` [path], `tmp_bytes`.

    Raises:
        OSError: the kernel does not give the namespaces or mounts.
    """
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    uid, gid = os.getuid(), os.getgid()
    mapped, go_on = os.pipe()
    child = k.clone(k.ALL_NAMESPACES)
    if child == 0:
        os.close(go_on)
        _inside(spec, command, environment, (uid, gid), mapped)
        os._exit(127)
    os.close(mapped)
    if uid == 0:
        _map_root_and_nobody(child)
    os.write(go_on, b"x")
    os.closerange(
        _FIRST_OWN, _MOST_FILES
    )  # the control socket is the zygote's alone: it tells of its end
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _map_root_and_nobody(child: int) -> None:
    """Root to build the wall with, nobody to live behind it."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w", encoding="utf-8") as file:
            file.write(f"0 0 1\n{_NOBODY} {_NOBODY} 1\n")


def _inside(
    spec: dict[str, Any],
    command: list[str],
    environment: dict[str, str],
    ids: tuple[int, int],
    mapped: int,
) -> None:
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    if not os.read(mapped, 1):
        os._exit(126)
    os.close(mapped)
    if ids[0] != 0:
        k.map_ids(*ids)
    _build(spec)
    if ids[0] == 0:
        _become_nobody()
    k.drop_capabilities()
    os.chdir("/tmp/work")
    os.execve(command[0], command, environment)


def _build(spec: dict[str, Any]) -> None:
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE)
    k.mount("tmpfs", _ROOT, "tmpfs", _TMPFS, "size=1m,nr_inodes=1024,mode=0755")
    os.mkdir(_ROOT + _OLD)
    k.pivot_root(_ROOT, _ROOT + _OLD)
    os.chdir("/")
    for source, target in spec["read_only"]:
        _bind(_OLD + source, target)
    for path in spec["hidden"]:
        k.mount("tmpfs", path, "tmpfs", _TMPFS | k.MS_RDONLY, "size=4k,nr_inodes=1,mode=0755")
    for target, path in spec["links"]:
        os.symlink(target, path)
    _devices()
    os.mkdir("/proc")
    k.mount("proc", "/proc", "proc", _TMPFS | k.MS_NOEXEC)
    os.mkdir("/tmp")
    k.mount("tmpfs", "/tmp", "tmpfs", _TMPFS, f"size={spec['tmp_bytes']},mode=0755")
    os.mkdir("/tmp/work")
    k.unmount(_OLD)
    os.rmdir(_OLD)
    k.make_read_only("/", recursive=False)


def _bind(source: str, target: str) -> None:
    if not os.path.exists(source):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        with open(target, "x", encoding="utf-8"):
            pass
    k.mount(source, target, None, k.MS_BIND | k.MS_REC)
    k.make_read_only(target)


def _devices() -> None:
    os.makedirs("/dev/shm")
    for name in _DEVICES:
        with open(f"/dev/{name}", "x", encoding="utf-8"):
            pass
        k.mount(f"{_OLD}/dev/{name}", f"/dev/{name}", None, k.MS_BIND)
    for target, name in (
        ("/proc/self/fd", "fd"),
        ("fd/0", "stdin"),
        ("fd/1", "stdout"),
        ("fd/2", "stderr"),
    ):
        os.symlink(target, f"/dev/{name}")


def _become_nobody() -> None:
    for path in ("/tmp", "/tmp/work"):
        os.chown(path, _NOBODY, _NOBODY)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)  # changing the user cleared it
