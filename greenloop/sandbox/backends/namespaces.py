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
from greenloop.sandbox.backends.mounts import HOME, PACKAGES, SITE, Visible

_TMP_BYTES = 8 << 20
_PREFIX = ("-I", "-S", "-B", "-u")
_ZYGOTE_PREFIX = ("-s", "-S", "-B", "-u")  # -I would not hear of PYTHONHASHSEED
_ZYGOTE = (
    "import sys; sys.path[:] = [{home!r}, *filter(None, sys.path), *{site!r}]; "
    "from guest.zygote.main import main; main({control}, {root!r}, {modules!r}, {plugins!r}, {bare!r})"
)
_WALL = (
    "import json, os, sys; sys.path[:0] = [{folder!r}]; from guest.isolation.namespaces import enter; "
    "spec = json.loads(sys.argv[1]); "
    "sys.exit(enter(spec, spec['command'], spec['environment']))"
)
_STRONG = (
    "strong: own file system, network, processes and users by namespaces ({how}), system-call "
    "filter, limits on time, memory, processes, disk and output; shares the kernel"
)


@dataclass(frozen=True)
class Wall:
    """A wall's name and promise, and the command that starts a zygote behind it."""

    info: SandboxInfo
    command: Callable[[Visible, int], list[str]]


def native_wall() -> Wall:
    """By plain system calls: no package is needed, and it works for root too."""
    info = SandboxInfo(backend="native", isolation=_STRONG.format(how="by system calls"))
    return Wall(info, _native)


def bubblewrap_wall() -> Wall | None:
    """By bubblewrap; None where it is not installed, or would have to run as root."""
    path = shutil.which("bwrap")
    if path is None or os.getuid() == 0:
        return None
    info = SandboxInfo(backend="bubblewrap", isolation=_STRONG.format(how="by bubblewrap"))
    return Wall(
        info,
        lambda seen, control: [path, *bubblewrap_arguments(seen), "--", *_zygote(seen, control)],
    )


def zygote_command(
    python: str,
    home: str,
    site: Sequence[str],
    control: int,
    *,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    bare: bool = False,
) -> list[str]:
    """Starts a zygote. `home` holds our inside, `site` are folders with packages, `root` has the
    rooms of runs without namespaces ('': they have some); `modules`, and the pytest plugins of the
    packages `plugins`, are loaded beforehand. `bare`: and nothing else that a run might import.
    """
    loaded = {"modules": tuple(modules), "plugins": tuple(plugins), "bare": bare}
    code = _ZYGOTE.format(home=home, site=list(site), control=control, root=root, **loaded)
    return [python, *_ZYGOTE_PREFIX, "-c", code]


def _zygote(seen: Visible, control: int) -> list[str]:
    return zygote_command(
        seen.python,
        HOME,
        (SITE, PACKAGES),
        control,
        modules=seen.modules,
        plugins=seen.plugins,
        bare=seen.bare,
    )


def _environment(seen: Visible) -> tuple[tuple[str, str], ...]:
    seed = ("PYTHONHASHSEED", str(seen.hash_seed))
    return ("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), seed


def _native(seen: Visible, control: int) -> list[str]:
    folder = str(Path(guest.__file__).parent.parent)
    spec = {
        "read_only": [list(item) for item in seen.read_only],
        "hidden": list(seen.hidden),
        "links": [list(item) for item in seen.links],
        "tmp_bytes": _TMP_BYTES,
        "command": _zygote(seen, control),
        "environment": dict(_environment(seen)),
    }
    return [sys.executable, *_PREFIX, "-c", _WALL.format(folder=folder), json.dumps(spec)]


def bubblewrap_arguments(seen: Visible) -> list[str]:
    """bubblewrap's arguments, each group with its reason in the name of what it shuts off."""
    apart = "user pid net ipc uts".split()
    arguments = [f"--unshare-{name}" for name in apart]
    arguments += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _environment(seen):
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
    for source, target in seen.read_only:
        arguments += ["--ro-bind-try", source, target]
    for path in seen.hidden:
        arguments += ["--tmpfs", path, "--remount-ro", path]
    for target, path in seen.links:
        arguments += ["--symlink", target, path]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    return [*arguments, "--chdir", "/tmp/work", "--remount-ro", "/", "--cap-drop", "ALL"]
