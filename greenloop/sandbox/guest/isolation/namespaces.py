"""Native isolation: namespaces and root file system of a zygote, created by system calls.

Runs in a bare Python (`-s -S`), needs no installed package and imports little, because each start
of a sandbox waits for it. Bind mounts are created before the process gives up root, so a Python in
root's home directory works.
"""

import os
import sys

from . import syscalls as k
from .null_device import redirect_to_null

_SIGKILL = 9  # importing `signal` takes as long as starting a bare Python
_UNPRIVILEGED_ID = 65534
_NEW_ROOT = "/tmp"  # the new root is mounted over it, in a private mount namespace
_OLD_ROOT = "/.old"
_FIRST_FD, _MAX_FD = 3, 4096
_DEVICES = ("null", "zero", "full", "random", "urandom")
_TMPFS = k.MS_NOSUID | k.MS_NODEV
_Pairs = tuple[tuple[str, str], ...]
# Bind mounts (source, target), links (target, path), hidden folders, and the size of /tmp in bytes.
RootFiles = tuple[_Pairs, _Pairs, tuple[str, ...], int]


def enter_namespaces(root: RootFiles) -> None:
    """Return in a child in new namespaces; this process ends with the child's exit status.

    The child sees only the files of `root`, and has unloaded this package.
    Raises OSError if the kernel refuses the namespaces or mounts.
    """
    k.prctl(k.PR_SET_PDEATHSIG, _SIGKILL)
    ids = (os.getuid(), os.getgid())
    mapped, mapped_in = os.pipe()
    child = k.clone(k.ALL_NAMESPACES)
    if child == 0:
        os.close(mapped_in)
        _set_up_child(root, ids, mapped)
        return
    os.close(mapped)
    if ids[0] == 0:
        _map_root_and_unprivileged(child)
    os.write(mapped_in, b"x")
    os.closerange(_FIRST_FD, _MAX_FD)  # only the zygote may hold the control socket open
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _map_root_and_unprivileged(child: int) -> None:
    """Map root, who sets up the mounts, and the unprivileged user of the zygote."""
    for name in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{name}", "w", encoding="utf-8") as file:
            file.write(f"0 0 1\n{_UNPRIVILEGED_ID} {_UNPRIVILEGED_ID} 1\n")


def _set_up_child(root: RootFiles, ids: tuple[int, int], mapped_fd: int) -> None:
    k.prctl(k.PR_SET_PDEATHSIG, _SIGKILL)
    os.setsid()
    if not os.read(mapped_fd, 1):
        os._exit(126)
    os.close(mapped_fd)
    if ids[0] != 0:
        k.map_ids(*ids)
    _build_root(root)
    if ids[0] == 0:
        _become_unprivileged()
    k.drop_capabilities()
    os.chdir("/tmp/work")
    redirect_to_null([0])
    _forget_package()


def _forget_package() -> None:
    """Unload this package, whose paths do not exist in the new root file system."""
    package = __name__.partition(".")[0]
    folder = __file__.removesuffix(__name__.replace(".", "/") + ".py").rstrip("/")
    sys.path.remove(folder)
    sys.path_importer_cache.clear()
    for name in [item for item in sys.modules if item.partition(".")[0] == package]:
        del sys.modules[name]


def _build_root(root: RootFiles) -> None:
    read_only, links, hidden, tmp_bytes = root
    k.mount(None, "/", None, k.MS_REC | k.MS_PRIVATE)
    k.mount("tmpfs", _NEW_ROOT, "tmpfs", _TMPFS, "size=1m,nr_inodes=1024,mode=0755")
    os.mkdir(_NEW_ROOT + _OLD_ROOT)
    k.pivot_root(_NEW_ROOT, _NEW_ROOT + _OLD_ROOT)
    os.chdir("/")
    for source, target in read_only:
        _bind_read_only(_OLD_ROOT + source, target)
    for path in hidden:
        k.mount("tmpfs", path, "tmpfs", _TMPFS | k.MS_RDONLY, "size=4k,nr_inodes=1,mode=0755")
    for target, path in links:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    _create_devices()
    os.mkdir("/proc")
    k.mount("proc", "/proc", "proc", _TMPFS | k.MS_NOEXEC)
    os.mkdir("/tmp")
    k.mount("tmpfs", "/tmp", "tmpfs", _TMPFS, f"size={tmp_bytes},mode=0755")
    os.mkdir("/tmp/work")
    k.unmount(_OLD_ROOT)
    os.rmdir(_OLD_ROOT)
    k.make_read_only("/", recursive=False)


def _bind_read_only(source: str, target: str) -> None:
    if not os.path.exists(source):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        with open(target, "x", encoding="utf-8"):
            pass
    k.mount(source, target, None, k.MS_BIND | k.MS_REC)
    k.make_read_only(target)


def _create_devices() -> None:
    os.makedirs("/dev/shm")
    for name in _DEVICES:
        with open(f"/dev/{name}", "x", encoding="utf-8"):
            pass
        k.mount(f"{_OLD_ROOT}/dev/{name}", f"/dev/{name}", None, k.MS_BIND)
    for target, name in (
        ("/proc/self/fd", "fd"),
        ("fd/0", "stdin"),
        ("fd/1", "stdout"),
        ("fd/2", "stderr"),
    ):
        os.symlink(target, f"/dev/{name}")


def _become_unprivileged() -> None:
    for path in ("/tmp", "/tmp/work"):
        os.chown(path, _UNPRIVILEGED_ID, _UNPRIVILEGED_ID)
    os.setgroups([])
    os.setresgid(_UNPRIVILEGED_ID, _UNPRIVILEGED_ID, _UNPRIVILEGED_ID)
    os.setresuid(_UNPRIVILEGED_ID, _UNPRIVILEGED_ID, _UNPRIVILEGED_ID)
    k.prctl(k.PR_SET_PDEATHSIG, _SIGKILL)  # changing the user cleared it
    k.prctl(k.PR_SET_DUMPABLE, 1)  # and made root the owner of /proc/self
