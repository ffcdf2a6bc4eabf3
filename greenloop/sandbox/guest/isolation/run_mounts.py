"""Mounts and quotas of a run in its namespaces."""

import contextlib
import os
import socket
from typing import Any

from . import syscalls as k

WORK_FOLDER, _HOME = "/tmp/work", "/tmp/home"
_OOM_SCORE_ADJUSTMENT = "1000"
_TMPFS = k.MS_NOSUID | k.MS_NODEV
_TCP_BUFFER_SIZES = "4096 65536 212992"
# Resources that the kernel counts per user, hence for the host's user too; and the maximum size of
# a connection's buffers.
_QUOTAS = {
    "user/max_user_namespaces": "0",
    "net/ipv4/tcp_rmem": _TCP_BUFFER_SIZES,
    "net/ipv4/tcp_wmem": _TCP_BUFFER_SIZES,
}


def set_up_mounts(limits: dict[str, Any], ids: tuple[int, int], first_pid: int) -> None:
    """Set up the run's new namespaces, then drop the capabilities that this needs.

    `first_pid` becomes the id of the next process: a small id would distinguish it from programs.
    """
    k.map_ids(*ids)
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE)
    k.make_read_only("/", allow_devices=True)  # protects modes and times of the host's devices
    k.mount("proc", "/proc", "proc", _TMPFS | k.MS_NOEXEC)
    size = f"size={limits['disk_bytes']},nr_inodes={limits['inodes']},mode=0700"
    k.mount("tmpfs", "/tmp", "tmpfs", _TMPFS, size)
    shared = f"size={limits['shared_bytes']},nr_inodes=256,mode=0700"
    k.mount("tmpfs", "/dev/shm", "tmpfs", _TMPFS | k.MS_NOEXEC, shared)
    _hide_devices()
    k.bring_loopback_up()
    socket.sethostname("sandbox")
    _lower_quotas()
    with contextlib.suppress(OSError):  # a kernel without this file, or with smaller numbers
        k.write_kernel_file("/proc/sys/kernel/ns_last_pid", str(first_pid - 1))
    be_killed_first()
    k.make_read_only("/proc", recursive=False)  # else the score could be lowered again
    for folder in (WORK_FOLDER, _HOME, "/tmp/tmp"):
        os.mkdir(folder)
    if overlay := limits.get("overlay"):
        _mount_project(overlay, size)
    k.drop_capabilities()


def _mount_project(overlay: dict[str, Any], size: str) -> None:
    """Mount a project at its own path by an overlay, whose writes are private and limited in size.

    Then mount the `binds` (source, target), which lie in it or below /tmp, read-only.
    """
    root, upper = overlay["root"], overlay["upper"]
    above = [pair for pair in overlay["binds"] if root.startswith(f"{pair[1]}/")]
    for source, target in above:  # mounted later, it would hide the project
        _bind(source, target)
    k.mount("tmpfs", upper, "tmpfs", _TMPFS, size)
    for name in ("files", "work"):
        os.mkdir(f"{upper}/{name}")
    os.makedirs(root, exist_ok=True)
    layers = f"lowerdir={overlay['tree']},upperdir={upper}/files,workdir={upper}/work,userxattr"
    k.mount("overlay", root, "overlay", _TMPFS, layers)
    k.unmount(upper)
    for source, target in overlay["binds"]:
        if [source, target] not in above:
            _bind(source, target)


def _bind(source: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    k.mount(source, target, None, k.MS_BIND | k.MS_REC)
    k.make_read_only(target)


def be_killed_first() -> None:
    """Make the kernel kill this process or one of its descendants first if memory runs out."""
    k.write_kernel_file("/proc/self/oom_score_adj", _OOM_SCORE_ADJUSTMENT)


def rename_folders(work: str, home: str) -> None:
    """Rename the folders to those of a job, whose temporary files are then in /tmp itself."""
    if home != _HOME:
        os.rename(WORK_FOLDER, work)
        os.rename(_HOME, home)
        os.rmdir("/tmp/tmp")


def _hide_devices() -> None:
    """Hide terminals, which a zygote's runs share, and /dev/zero, as unlimited shared memory."""
    if os.path.isdir("/dev/pts"):
        k.mount("tmpfs", "/dev/pts", "tmpfs", _TMPFS | k.MS_RDONLY, "size=4k,nr_inodes=1")
    if os.path.exists("/dev/zero"):
        k.mount("/dev/null", "/dev/zero", None, k.MS_BIND)


def _lower_quotas() -> None:
    for name, value in _QUOTAS.items():
        with contextlib.suppress(FileNotFoundError):
            k.write_kernel_file(f"/proc/sys/{name}", value)
