"""Walls: how a process is started that sees nothing of this machine but what it needs."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.records import SandboxInfo
from greenloop.sandbox import guest
from greenloop.sandbox.backends.mounts import HOME, PACKAGES, SITE, GuestMounts

_TMP_BYTES = 8 << 20
_PYTHON_FLAGS = ("-I", "-S", "-B", "-u")
_ZYGOTE_FLAGS = ("-s", "-S", "-B", "-u")  # -I would not hear of PYTHONHASHSEED
_ZYGOTE_CODE = (
    "import sys; sys.path[:] = [{home!r}, *filter(None, sys.path), *{site!r}]; "
    "from guest.zygote.main import main; main({control}, {root!r}, {modules!r}, {plugins!r}, {bare!r})"
)
_NAMESPACE_CODE = (
    "import json, os, sys; sys.path[:0] = [{folder!r}]; from guest.isolation.namespaces import run_in_namespaces; "
    "spec = json.loads(sys.argv[1]); "
    "sys.exit(run_in_namespaces(spec, spec['command'], spec['environment']))"
)
_ISOLATION_TEXT = (
    "strong: own file system, network, processes and users by namespaces ({how}), system-call "
    "filter, limits on time, memory, processes, disk and output; shares the kernel"
)


@dataclass(frozen=True)
class Backend:
    """A wall's name and promise, and the command that starts a zygote behind it."""

    info: SandboxInfo
    command: Callable[[GuestMounts, int], list[str]]


def create_native_backend() -> Backend:
    """By plain system calls: no package is needed, and it works for root too."""
    info = SandboxInfo(backend="native", isolation=_ISOLATION_TEXT.format(how="by system calls"))
    return Backend(info, _build_native_command)


def create_bubblewrap_backend() -> Backend | None:
    """By bubblewrap; None where it is not installed, or would have to run as root."""
    path = shutil.which("bwrap")
    if path is None or os.getuid() == 0:
        return None
    info = SandboxInfo(backend="bubblewrap", isolation=_ISOLATION_TEXT.format(how="by bubblewrap"))
    return Backend(
        info,
        lambda seen, control: [
            path,
            *build_bubblewrap_arguments(seen),
            "--",
            *_build_guest_zygote_command(seen, control),
        ],
    )


def build_zygote_command(
    python: str,
    home: str,
    site: Sequence[str],
    control: int,
    *,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    is_bare: bool = False,
) -> list[str]:
    """Starts a zygote. `home` holds our inside, `site` are folders with packages, `root` has the
    rooms of runs without namespaces ('': they have some); `modules`, and the pytest plugins of the
    packages `plugins`, are loaded beforehand. `bare`: and nothing else that a run might import.
    """
    loaded = {"modules": tuple(modules), "plugins": tuple(plugins), "bare": is_bare}
    code = _ZYGOTE_CODE.format(home=home, site=list(site), control=control, root=root, **loaded)
    return [python, *_ZYGOTE_FLAGS, "-c", code]


def _build_guest_zygote_command(mounts: GuestMounts, control: int) -> list[str]:
    return build_zygote_command(
        mounts.python,
        HOME,
        (SITE, PACKAGES),
        control,
        modules=mounts.modules,
        plugins=mounts.plugins,
        is_bare=mounts.is_bare,
    )


def _build_environment(mounts: GuestMounts) -> tuple[tuple[str, str], ...]:
    seed = ("PYTHONHASHSEED", str(mounts.hash_seed))
    return ("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), seed


def _build_native_command(mounts: GuestMounts, control: int) -> list[str]:
    folder = str(Path(guest.__file__).parent.parent)
    spec = {
        "read_only": [list(item) for item in mounts.read_only],
        "hidden": list(mounts.hidden),
        "links": [list(item) for item in mounts.links],
        "tmp_bytes": _TMP_BYTES,
        "command": _build_guest_zygote_command(mounts, control),
        "environment": dict(_build_environment(mounts)),
    }
    return [
        sys.executable,
        *_PYTHON_FLAGS,
        "-c",
        _NAMESPACE_CODE.format(folder=folder),
        json.dumps(spec),
    ]


def build_bubblewrap_arguments(mounts: GuestMounts) -> list[str]:
    """bubblewrap's arguments, each group with its reason in the name of what it shuts off."""
    apart = "user pid net ipc uts".split()
    arguments = [f"--unshare-{name}" for name in apart]
    arguments += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _build_environment(mounts):
        arguments += ["--setenv", name, value]
    arguments += [
        "--perms",
        "0755",
        "--size",
        str(_TMP_BYTES),
        "--tmpfs",
        "/tmp",
        "--dir",
        "/tmp/work",
    ]
    for source, target in mounts.read_only:
        arguments += ["--ro-bind-try", source, target]
    for path in mounts.hidden:
        arguments += ["--tmpfs", path, "--remount-ro", path]
    for target, path in mounts.links:
        arguments += ["--symlink", target, path]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    return [*arguments, "--chdir", "/tmp/work", "--remount-ro", "/", "--cap-drop", "ALL"]
