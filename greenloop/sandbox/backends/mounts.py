"""File system of the guest: the interpreter, pytest, allowed packages and the guest package."""

from __future__ import annotations

import compileall
import os
import re
import site
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.sandbox import guest
from greenloop.versions import installed_version

if TYPE_CHECKING:
    from greenloop.dependencies import InstalledPackages

HOME = "/opt/greenloop"
SITE = f"{HOME}/site-packages"  # packages tell third-party code from the run's own by this name
PACKAGES = f"{HOME}/packages/site-packages"
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_SYSTEM_FOLDERS = ("lib", "lib64", "lib32", "bin", "sbin")


@dataclass(frozen=True)
class GuestMounts:
    """What a zygote sees, and what it loads before the first run."""

    read_only: tuple[tuple[str, str], ...]  # (source, target) pairs of bind mounts
    links: tuple[tuple[str, str], ...]  # (target, path) pairs of symbolic links
    python: str  # path of the interpreter
    hidden: tuple[str, ...] = ()  # folders within the mounts that are empty in the guest
    modules: tuple[str, ...] = ()  # modules of the packages in `PACKAGES` that are imported
    plugins: tuple[str, ...] = ()  # packages whose pytest plugins are loaded
    hash_seed: int = 0  # PYTHONHASHSEED; with one, nothing else is loaded
    has_pytest: bool = True

    @property
    def is_bare(self) -> bool:
        """Whether only what a run imports itself is loaded."""
        return self.hash_seed != 0

    def with_packages(self, packages: InstalledPackages) -> GuestMounts:
        """Return the same mounts with the packages."""
        pairs = (*self.read_only, (packages.folder, PACKAGES))
        return replace(self, read_only=pairs, modules=packages.preloadable_modules)


def build_guest_mounts(packages: tuple[str, ...] = ("pytest",)) -> GuestMounts:
    """Return the mounts of a guest with these packages and their dependencies."""
    python = os.path.realpath(sys.executable)
    binds = [("/usr", "/usr"), ("/etc/ld.so.cache", "/etc/ld.so.cache")]
    links: list[tuple[str, str]] = []
    for name in _SYSTEM_FOLDERS:
        path = f"/{name}"
        if os.path.islink(path):
            links.append((os.readlink(path), path))
        elif os.path.isdir(path):
            binds.append((path, path))
    prefix = os.path.realpath(sys.base_prefix)
    if not prefix.startswith("/usr/") and prefix != "/usr":
        binds.append((prefix, prefix))
    guest_folder = _compile_guest()
    binds.append((guest_folder, f"{HOME}/guest"))
    # `localhost`, in each run's network
    binds.append((f"{guest_folder}/isolation/hosts", "/etc/hosts"))
    binds.extend((source, f"{SITE}/{name}") for name, source in list_site_entries(packages))
    hidden = _find_hidden_folders([target for _, target in binds])
    return GuestMounts(tuple(binds), tuple(links), python, hidden)


def _compile_guest() -> str:
    """Compile the guest package and return its folder.

    The guest cannot write there, and would compile it at each start (in a checkout, or an editable
    installation).
    """
    folder = str(Path(guest.__file__).parent)
    if not sys.dont_write_bytecode:
        compileall.compile_dir(folder, quiet=2)
    return folder


def _find_hidden_folders(targets: list[str]) -> tuple[str, ...]:
    """Return the folders with packages that the user installed into the mounted interpreter."""
    places = site.getsitepackages([sys.base_prefix, sys.base_exec_prefix])
    found = {os.path.realpath(item) for item in places if os.path.isdir(item)}
    return tuple(
        path for path in sorted(found) if any(path.startswith(f"{item}/") for item in targets)
    )


def link_site(mounts: GuestMounts, folder: Path) -> None:
    """Fill a folder with links to the packages, for runs that see the paths of this machine."""
    for source, target in mounts.read_only:
        if target.startswith(f"{SITE}/"):
            (folder / Path(target).name).symlink_to(source)


def list_site_entries(packages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (name, path) of the top-level entries of packages and of their dependencies."""
    found: dict[str, str] = {}
    for name in _resolve_requirements(packages):
        for entry, path in _iter_entries(distribution(name)):
            found.setdefault(entry, path)
    return sorted(found.items())


def _resolve_requirements(packages: tuple[str, ...]) -> list[str]:
    """Return the installed packages among these and, without extras, what they require."""
    waiting, seen = list(packages), dict[str, None]()
    while waiting:
        name = waiting.pop()
        if name in seen or installed_version(name) is None:
            continue
        seen[name] = None
        required = distribution(name).requires or []
        names = (_NAME.match(item) for item in required if "extra ==" not in item)
        waiting.extend(found[0] for found in names if found)
    return list(seen)


def _iter_entries(package: Distribution) -> Iterator[tuple[str, str]]:
    for top in dict.fromkeys(file.parts[0] for file in package.files or ()):
        if top not in ("..", "__pycache__") and not top.endswith(".pth"):
            yield top, os.path.realpath(str(package.locate_file(top)))
