"""File system of the guest: the interpreter, pytest, allowed packages and the guest package."""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from greenloop.distributions import list_metadata_folders, normalize_name
from greenloop.sandbox import guest

if TYPE_CHECKING:
    from greenloop.dependencies import InstalledPackages

HOME = "/opt/greenloop"
SITE = f"{HOME}/site-packages"  # packages tell third-party code from the run's own by this name
PACKAGES = f"{HOME}/packages/site-packages"
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_REQUIRED = re.compile(r"^Requires-Dist: *(.+)$", re.MULTILINE)
_LOADED_BY_PYTEST = ("_pytest", "iniconfig", "packaging", "pluggy", "pytest")
_SYSTEM_FOLDERS = ("lib", "lib64", "lib32", "bin", "sbin")


class GuestMounts(NamedTuple):
    """What a zygote sees, and what it loads before the first run."""

    read_only: tuple[tuple[str, str], ...]  # (source, target) pairs of bind mounts
    links: tuple[tuple[str, str], ...]  # (target, path) pairs of symbolic links
    python: str  # path of the interpreter
    hidden: tuple[str, ...] = ()  # folders within the mounts that are empty in the guest
    modules: tuple[str, ...] = ()  # modules of the packages in `PACKAGES` that are imported
    plugins: tuple[str, ...] = ()  # packages whose pytest plugins are loaded
    hash_seed: int = 0  # PYTHONHASHSEED

    @property
    def is_bare(self) -> bool:
        """Whether only what a test run imports itself is loaded, and pytest when one asks for it."""
        return self.hash_seed != 0

    @property
    def serves_code_alone(self) -> bool:
        """Whether a process without pytest is forked for runs of code alone."""
        return self.is_bare and not self.plugins

    def with_packages(self, packages: InstalledPackages) -> GuestMounts:
        """Return the same mounts with the packages."""
        pairs = (*self.read_only, (packages.folder, PACKAGES))
        return self._replace(read_only=pairs, modules=packages.preloadable_modules)


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
    guest_folder = str(Path(guest.__file__).parent)
    entries = list_site_entries(packages)
    _compile(guest_folder, *(path for name, path in entries if name in _LOADED_BY_PYTEST))
    binds.append((guest_folder, f"{HOME}/guest"))
    # `localhost`, in each run's network
    binds.append((f"{guest_folder}/isolation/hosts", "/etc/hosts"))
    binds.extend((source, f"{SITE}/{name}") for name, source in entries)
    hidden = _find_hidden_folders([target for _, target in binds])
    return GuestMounts(tuple(binds), tuple(links), python, hidden)


def _compile(*folders: str) -> None:
    """Compile packages that have no bytecode: the guest cannot write it, so each start would compile.

    An editable installation has none, nor has what uv installs without `--compile-bytecode`.
    """
    for folder in folders:
        if sys.dont_write_bytecode or not os.access(folder, os.W_OK) or _is_compiled(folder):
            continue
        import compileall

        compileall.compile_dir(folder, quiet=2)


def _is_compiled(folder: str) -> bool:
    suffix = f".{sys.implementation.cache_tag}.pyc"
    try:
        return all(
            os.stat(f"{path}/__pycache__/{name[:-3]}{suffix}").st_mtime
            >= os.stat(f"{path}/{name}").st_mtime
            for path, _, names in os.walk(folder)
            for name in names
            if name.endswith(".py")
        )
    except OSError:
        return False


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
        for entry, path in package.iter_entries():
            found.setdefault(entry, path)
    return sorted(found.items())


class _Package(NamedTuple):
    """An installed package: its folder, and the texts of its files METADATA and RECORD.

    They are read as text: importing importlib.metadata, and parsing as it does, takes longer than
    all else that precedes the start of a zygote.
    """

    folder: str
    metadata: str
    record: str

    def list_required(self) -> list[str]:
        """Return the names of the packages that it requires, without extras."""
        required = _REQUIRED.findall(self.metadata.partition("\n\n")[0])
        names = (_NAME.match(item) for item in required if "extra ==" not in item)
        return [found[0] for found in names if found]

    def iter_entries(self) -> Iterator[tuple[str, str]]:
        """Yield (name, path) of its top-level files and folders."""
        paths = self.record.split("\n")
        for top in dict.fromkeys(re.split("[/,]", path, maxsplit=1)[0] for path in paths):
            if top not in ("", "..", "__pycache__") and not top.endswith(".pth"):
                yield top, os.path.realpath(f"{self.folder}/{top}")


def _find_packages(names: tuple[str, ...]) -> list[_Package]:
    """Return the installed packages among these and, without extras, what they require."""
    folders = list_metadata_folders()
    waiting, found = list(names), dict[str, _Package]()
    while waiting:
        name = normalize_name(waiting.pop())
        if name not in found and (package := _read_package(folders.get(name, ""))):
            found[name] = package
            waiting.extend(package.list_required())
    return list(found.values())


def _read_package(folder: str) -> _Package | None:
    try:
        texts = [Path(folder, name).read_text("utf-8") for name in ("METADATA", "RECORD")]
    except (OSError, UnicodeDecodeError):
        return None
    return _Package(os.path.dirname(folder), *texts)
