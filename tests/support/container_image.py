"""Builds an image for container tests from the Python of this machine, without a download.

python -m tests.support.container_image [ENGINE]
"""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

VERSION = f"python3.{sys.version_info.minor}"
IMAGE = f"localhost/greenloop-tests:{VERSION}"
_NAMES = "/etc/nsswitch.conf"  # without it a C library asks the network for `localhost`
_PROGRAMS = [f"/usr/bin/{name}" for name in "sh env sleep true yes".split()]
_ON_EVERY_LINUX = "c dl gcc_s m pthread rt stdc++ util".split()
_FOLDERS = "dev etc proc run sys tmp".split()
_LEFT_OUT = {"test", "tests", "site-packages", "dist-packages", "idlelib", "ensurepip", "tkinter"}


def write(target: IO[bytes]) -> None:
    """Write the file system of the image as a tar archive: Python below /usr/local, a few programs."""
    library, program = Path(os.__file__).resolve().parent, Path(sys.executable).resolve()
    with tarfile.open(fileobj=target, mode="w|") as archive:
        for name in _FOLDERS:
            archive.add("/tmp" if name == "tmp" else "/", name, recursive=False, filter=_of_root)
        archive.add(library, f"usr/local/lib/{VERSION}", filter=_select_entry)
        archive.add(program, f"usr/local/bin/{VERSION}", filter=_of_root)
        archive.addfile(_link("usr/local/bin/python3", VERSION))
        parts = [str(program), *_PROGRAMS, *map(str, library.glob("lib-dynload/*.so"))]
        parts += _list_expected()
        for path in (_NAMES, *_PROGRAMS, *_list_expected(), *_libraries(parts)):
            archive.add(os.path.realpath(path), path.lstrip("/"), filter=_of_root)


def _list_expected() -> list[str]:
    """Return the libraries that wheels expect on every Linux."""
    found = (Path("/usr/lib").glob(f"*-linux-gnu/lib{name}.so.[0-9]") for name in _ON_EVERY_LINUX)
    return sorted({str(path) for paths in found for path in paths})


def _libraries(programs: Iterable[str]) -> list[str]:
    """Return the paths of all shared libraries that they are linked with, and of the loader."""
    done = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False)
    words = (word for line in done.stdout.splitlines() for word in line.split())
    return sorted({word for word in words if word.startswith("/") and not word.endswith(":")})


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode |= 0o555 if entry.isdir() or entry.mode & 0o100 else 0o444
    return entry


def _select_entry(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    inner = Path(entry.name).parts[4:]
    is_built = any(part.startswith("config-3") for part in inner)
    return None if is_built or _LEFT_OUT & set(inner) else _of_root(entry)


def _link(name: str, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    return entry


def make(engine: str) -> None:
    """Import the image into the engine. Raises CalledProcessError if the engine fails."""
    command = [engine, "import", "-", IMAGE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as taking:
        assert taking.stdin is not None
        write(taking.stdin)
    if taking.returncode:
        raise subprocess.CalledProcessError(taking.returncode, command)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "podman"
    make(chosen)
    print(f"{chosen} has {IMAGE}")
