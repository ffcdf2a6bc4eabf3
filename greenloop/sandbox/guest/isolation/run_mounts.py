"""A run's private corner behind the wall: its own /proc, /tmp and /dev/shm, name and quotas."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable

from . import syscalls as k

WORK_FOLDER = "/tmp/work"
_TMPFS = k.MS_NOSUID | k.MS_NODEV
_TCP_BUFFER_SIZES = "4096 65536 212992"
# What the kernel counts for each user, so what a run could use up for a person outside; and the
# size to which the kernel lets a connection's buffers grow.
_QUOTAS = {
    "user/max_user_namespaces": "0",
    "user/max_inotify_instances": "16",
    "user/max_inotify_watches": "1024",
    "net/ipv4/tcp_rmem": _TCP_BUFFER_SIZES,
    "net/ipv4/tcp_wmem": _TCP_BUFFER_SIZES,
}


def set_up_mounts(
    limits: dict[str, int], ids: tuple[int, int], before_drop: Callable[[], None] | None = None
) -> None:
    """In the run's fresh namespaces; afterwards nothing of this can be done any more.

    `last` is called when all stands and capabilities are still there.
    """
    k.map_ids(*ids)
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE)
    k.mount("proc", "/proc", "proc", _TMPFS | k.MS_NOEXEC)
    size = f"size={limits['disk_bytes']},nr_inodes={limits['inodes']},mode=0700"
    k.mount("tmpfs", "/tmp", "tmpfs", _TMPFS, size)
    shared = f"size={limits['shared_bytes']},nr_inodes=256,mode=0700"
    k.mount("tmpfs", "/dev/shm", "tmpfs", _TMPFS | k.MS_NOEXEC, shared)
    _hide_devices()
    k.bring_loopback_up()
    socket.sethostname("sandbox")
    _lower_quotas()
    for folder in (WORK_FOLDER, "/tmp/home", "/tmp/tmp"):
        os.mkdir(folder)
    if before_drop is not None:
        before_drop()
    k.drop_capabilities()


def _hide_devices() -> None:
    """Terminals are seen by other runs behind the same wall; /dev/zero is memory without a limit."""
    if os.path.isdir("/dev/pts"):
        k.mount("tmpfs", "/dev/pts", "tmpfs", _TMPFS | k.MS_RDONLY, "size=4k,nr_inodes=1")
    if os.path.exists("/dev/zero"):
        k.mount("/dev/null", "/dev/zero", None, k.MS_BIND)


def _lower_quotas() -> None:
    for name, value in _QUOTAS.items():
        with contextlib.suppress(FileNotFoundError):
            k.write_kernel_file(f"/proc/sys/{name}", value)
