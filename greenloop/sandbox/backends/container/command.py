"""How a container is started: with nothing of this machine, and with little to use up."""

from __future__ import annotations

import csv
import io
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from greenloop.dependencies import Installed
from greenloop.sandbox import guest
from greenloop.sandbox.backends.container.runtime import Engine
from greenloop.sandbox.backends.mounts import HOME, PACKAGES, SITE, site_entries
from greenloop.sandbox.limits import Limits

_ROOM_BYTES = 256 << 20  # for the process that is copied; the limit for a run is held inside
_ROOM_PROCESSES, _ROOM_FILES = 16, 64
_USERS = range(20000, 60000)  # exist wherever an engine without root has its usual 65536
_MAIN = (
    "import sys; sys.path[:] = [{home!r}, *filter(None, sys.path), *{site!r}]; "
    "from guest.container.init import main; main({modules!r}, {plugins!r})"
)
# Python twice: what the engine puts into the environment (a proxy with its password) is gone then.
# The second without -I, which would not hear of PYTHONHASHSEED.
_START = (
    "import os, sys; sys.version_info >= (3, 10) or "
    "sys.exit('its Python is ' + sys.version.split()[0] + '; 3.10 or newer is needed'); "
    "{fits}os.execve(sys.executable, [sys.executable, '-s', '-S', '-B', '-u', '-c', {main!r}, {name!r}], "
    "{{'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8', 'PYTHONHASHSEED': '0'}})"
)
# Wheels fit the Python that they were chosen for, and are not for every system.
_FITS = (
    "(sys.platform, *sys.version_info[:2]) == {ours!r} or "
    "sys.exit('its Python is %s.%s on %s; the packages are for ' "
    "% (*sys.version_info[:2], sys.platform) + {told!r}); "
)


@dataclass(frozen=True)
class Shape:
    """What is settled when a container starts: limits in bytes and numbers, packages, and the ones
    whose plugins for pytest are loaded."""

    memory: int
    disk: int
    shared: int
    inodes: int
    file: int
    open_files: int
    processes: int
    packages: Installed
    plugins: tuple[str, ...] = ()

    @classmethod
    def of(cls, limits: Limits, packages: Installed, plugins: tuple[str, ...] = ()) -> Shape:
        sizes = (limits.total_bytes, limits.disk_bytes, limits.shared_bytes, limits.inodes)
        most = (limits.file_bytes, limits.open_files, limits.processes)
        return cls(*sizes, *most, packages, plugins)


def start_command(engine: Engine, name: str, shape: Shape) -> list[str]:
    """What starts a container that serves runs over its standard input and output."""
    docker = engine.name == "docker"
    user = secrets.choice(_USERS)  # one each: of a user the kernel counts processes and watches
    memory = str(shape.memory + _ROOM_BYTES)
    words = ["run", "--rm", "--interactive", "--pull=never", f"--name={name}", "--label=greenloop"]
    words += ["--log-driver=none", "--hostname=sandbox", "--workdir=/", f"--user={user}:{user}"]
    words += ["--network=none", "--ipc=private", "--read-only", "--cap-drop=ALL"]
    words += ["--security-opt=no-new-privileges", f"--memory={memory}", f"--memory-swap={memory}"]
    words += [f"--pids-limit={shape.processes + _ROOM_PROCESSES}", f"--shm-size={shape.shared}"]
    for kind, most in (
        ("nofile", shape.open_files + _ROOM_FILES),
        ("nproc", shape.processes + _ROOM_PROCESSES),
        ("fsize", shape.file),
        ("core", 1),
    ):
        words.append(f"--ulimit={kind}={most}:{most}")
    inodes = f",nr_inodes={shape.inodes}" if docker else ""
    words.append(f"--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={shape.disk}{inodes}")
    # No connection of one run is remembered in the next; and buffers stay small.
    words.append("--sysctl=net.ipv4.tcp_max_tw_buckets=0")
    words += [f"--sysctl=net.ipv4.tcp_{way}mem=4096 65536 212992" for way in "rw"]
    words += [] if docker else ["--read-only-tmpfs=false", "--http-proxy=false", "--no-hosts"]
    words += [f"--mount={_mount(source, target)}" for source, target in _bound(shape.packages)]
    start = _python(name, shape.packages, shape.plugins)
    return engine.command(*words, "--entrypoint=python3", engine.image, "-I", "-S", "-c", start)


def _python(name: str, packages: Installed, plugins: tuple[str, ...]) -> str:
    """What its Python is given to do."""
    loaded = {"modules": packages.modules, "plugins": plugins}
    main = _MAIN.format(home=HOME, site=[SITE, PACKAGES], **loaded)
    ours = (sys.platform, *sys.version_info[:2])
    told = f"{ours[1]}.{ours[2]} on {ours[0]}"
    fits = _FITS.format(ours=ours, told=told) if packages else ""
    return _START.format(main=main, name=name, fits=fits)


def _bound(packages: Installed) -> list[tuple[str, str]]:
    """Our inside, pytest with what it needs (no library that depends on the Python), packages."""
    own = [(str(Path(guest.__file__).parent), f"{HOME}/guest")]
    own += [(packages.folder, PACKAGES)] if packages else []
    return own + [(source, f"{SITE}/{name}") for name, source in site_entries(("pytest",))]


def _mount(source: str, target: str) -> str:
    line = io.StringIO()  # quoted as both engines read it: paths may hold commas
    fields = ["type=bind", f"source={source}", f"target={target}", "readonly"]
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()
