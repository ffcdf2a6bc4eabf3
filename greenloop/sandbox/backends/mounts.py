"""File system of the guest: the interpreter, pytest, allowed packages and the guest package."""

import compileall
import os
import site
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox import guest

HOME = "/opt/greenloop"
SITE = f"{HOME}/site-packages"  # packages recognize third-party code by this name
PACKAGES = f"{HOME}/packages/site-packages"
_LOADED_BY_PYTEST = ("_pytest", "iniconfig", "packaging", "pluggy", "pytest")
_SYSTEM_FOLDERS = ("lib", "lib64", "lib32", "bin", "sbin")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")  # /usr/bin/awk links to the latter
_OF_PYTHON = ("bin", "lib", "lib64", "include")


@dataclass(frozen=True, slots=True)
class GuestMounts:
    """Mounts, interpreter, hash seed and kinds of jobs of a zygote."""

    read_only: tuple[tuple[str, str], ...]  # (source, target) pairs of bind mounts
    links: tuple[tuple[str, str], ...]  # (target, path) pairs of symbolic links
    python: str  # path of the interpreter
    hidden: tuple[str, ...] = ()  # folders within the mounts that are empty in the guest
    hash_seed: int = 0  # PYTHONHASHSEED
    kinds: tuple[str, ...] = ()  # () for all

    def with_packages(self, packages: InstalledPackages) -> "GuestMounts":
        """Return the same mounts with the packages."""
        return replace(self, read_only=(*self.read_only, (packages.folder, PACKAGES)))


def build_guest_mounts(packages: tuple[str, ...] = ("pytest",)) -> GuestMounts:
    """Return the mounts of a guest with these packages and their dependencies."""
    python = os.path.realpath(sys.executable)
    binds = [(path, path) for path in ("/usr", *_SYSTEM_FILES) if os.path.exists(path)]
    links: list[tuple[str, str]] = []
    for name in _SYSTEM_FOLDERS:
        path = f"/{name}"
        if os.path.islink(path):
            links.append((os.readlink(path), path))
        elif os.path.isdir(path):
            binds.append((path, path))
    prefix = os.path.realpath(sys.base_prefix)
    if not prefix.startswith("/usr/") and prefix != "/usr":
        own = (f"{prefix}/{name}" for name in _OF_PYTHON)  # the prefix may be the home folder
        binds.extend((path, path) for path in own if os.path.isdir(path))
    guest_folder = str(Path(guest.__file__).parent)
    entries = list_site_entries(packages)
    _compile(guest_folder, *(path for name, path in entries if name in _LOADED_BY_PYTEST))
    binds.append((guest_folder, f"{HOME}/guest"))
    # Resolves `localhost` in each run's network.
    binds.append((f"{guest_folder}/isolation/hosts", "/etc/hosts"))
    binds.extend((source, f"{SITE}/{name}") for name, source in entries)
    hidden = _find_hidden_folders([target for _, target in binds])
    return GuestMounts(tuple(binds), tuple(links), python, hidden)


def _compile(*folders: str) -> None:
    """Compile packages without bytecode, which the guest would compile at each start.

    Editable installations have none, nor what uv installs without `--compile-bytecode`.
    """
    for folder in folders:
        if sys.dont_write_bytecode or not os.access(folder, os.W_OK):
            continue
        compileall.compile_dir(folder, quiet=2)


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
    for package in _find_packages(packages):
        for entry, path in _iter_entries(package):
            found.setdefault(entry, path)
    return sorted(found.items())


def _find_packages(names: tuple[str, ...]) -> Iterator[Distribution]:
    """Yield the installed packages among these and their dependencies, without extras."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        with suppress(PackageNotFoundError):
            package = distribution(name)
            required = map(Requirement, package.requires or ())
            waiting += [i.name for i in required if not i.marker or i.marker.evaluate()]
            yield package


def _iter_entries(package: Distribution) -> Iterator[tuple[str, str]]:
    """Yield (name, path) of the top-level files and folders of a package."""
    for top in dict.fromkeys(file.parts[0] for file in package.files or ()):
        if top not in ("..", "__pycache__") and not top.endswith(".pth"):
            yield top, os.path.realpath(str(package.locate_file(top)))
