"""Backends that use Linux namespaces: by system calls (native), or by bubblewrap."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.sandbox import guest
from greenloop.sandbox.backends.mounts import HOME, SITE, GuestMounts

_TMP_BYTES = 8 << 20
_ZYGOTE_FLAGS = ("-s", "-S", "-B", "-u")  # not -I, which ignores PYTHONHASHSEED
_ZYGOTE_CODE = (
    "import gc, sys; gc.disable(); sys.path[:] = [{home!r}, *filter(None, sys.path), {site!r}]; "
    "from guest.zygote.start import start; start({control!r}, {root!r}, {kinds!r})"
)
# Host paths come from standard input, because code in the guest can read the command line.
_NAMESPACE_CODE = (
    "import sys; folder, root = eval(open(0, closefd=False).read()); "
    "sys.path[:] = [*filter(None, sys.path), folder]; "
    "from guest.isolation.namespaces import enter_namespaces; "
    "enter_namespaces(root); del folder, root, enter_namespaces; "
)
_ISOLATION_TEXT = (
    "strong: own file system, network, processes and users by namespaces ({how}), system-call "
    "filter, limits on time, memory, processes, disk and output; shares the kernel"
)
_BUBBLEWRAP_OPTIONS = (
    "--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try "
    "--die-with-parent --new-session --clearenv"
).split()


@dataclass(frozen=True, slots=True)
class ZygoteCommand:
    """Command that starts a zygote, and its standard input."""

    arguments: list[str]
    input: str = ""


@dataclass(frozen=True, slots=True)
class Backend:
    """Name of a backend, description of its isolation, and builder of its zygote command."""

    name: str
    isolation: str
    # The second argument is the descriptor of the control socket (see `guest.zygote.start`).
    command: Callable[[GuestMounts, int], ZygoteCommand]


def create_native_backend() -> Backend:
    """Return the backend that uses system calls: it needs no package, and works for root."""
    return Backend("native", _ISOLATION_TEXT.format(how="by system calls"), _build_native_command)


def create_bubblewrap_backend() -> Backend | None:
    """Return the bubblewrap backend; None for root, or where it is not installed."""
    path = shutil.which("bwrap")
    if path is None or os.getuid() == 0:
        return None

    def build_command(mounts: GuestMounts, control: int) -> ZygoteCommand:
        arguments = [path, *build_bubblewrap_arguments(mounts), "--"]
        return ZygoteCommand([*arguments, *build_zygote_command(mounts, control)])

    return Backend("bubblewrap", _ISOLATION_TEXT.format(how="by bubblewrap"), build_command)


def build_zygote_command(
    mounts: GuestMounts,
    control: int,
    setup: str = "",
    *,
    home: str = HOME,
    site: str = SITE,
    root: str = "",
) -> list[str]:
    """Return the command that starts a zygote, with `control` as its end of the control socket.

    `setup` is code that is executed first. `home` contains the guest package, `site` pytest, and
    `root` the folders of runs ('' if each run mounts its own).
    """
    code = _ZYGOTE_CODE.format(home=home, site=site, control=control, root=root, kinds=mounts.kinds)
    return [mounts.python, *_ZYGOTE_FLAGS, "-c", setup + code]


def _build_native_command(mounts: GuestMounts, control: int) -> ZygoteCommand:
    root = (mounts.read_only, mounts.links, mounts.hidden, _TMP_BYTES)
    arguments = build_zygote_command(mounts, control, _NAMESPACE_CODE)
    return ZygoteCommand(arguments, repr((str(Path(guest.__file__).parent.parent), root)))


def build_environment(mounts: GuestMounts) -> dict[str, str]:
    """Return the environment of a zygote."""
    seed = str(mounts.hash_seed)
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": seed}


def build_bubblewrap_arguments(mounts: GuestMounts) -> list[str]:
    """Return the arguments of bubblewrap, up to the command."""
    arguments = list(_BUBBLEWRAP_OPTIONS)
    for name, value in build_environment(mounts).items():
        arguments += ["--setenv", name, value]
    arguments += f"--perms 0755 --size {_TMP_BYTES} --tmpfs /tmp --dir /tmp/work".split()
    for source, target in mounts.read_only:
        arguments += ["--ro-bind-try", source, target]
    for path in mounts.hidden:
        arguments += ["--tmpfs", path, "--remount-ro", path]
    for target, path in mounts.links:
        arguments += ["--symlink", target, path]
    arguments += "--proc /proc --dev /dev --remount-ro /dev".split()
    return [*arguments, *"--chdir /tmp/work --remount-ro / --cap-drop ALL".split()]
