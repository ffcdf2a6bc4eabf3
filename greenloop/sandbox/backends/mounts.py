"""What foreign code gets to see behind a wall: the interpreter, pytest, the packages that it may use,
and our inside. No more.
"""

from __future__ import annotations

import compileall
import os
import re
import site
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox import guest

HOME = "/opt/greenloop"
SITE = f"{HOME}/site-packages"  # by this name packages tell code of others from the run's own
PACKAGES = f"{HOME}/packages/site-packages"
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_SYSTEM_FOLDERS = ("lib", "lib64", "lib32", "bin", "sbin")


@dataclass(frozen=True)
class GuestMounts:
    """`read_only` (source, target) pairs; `links` (target, path) pairs; the interpreter's path.

    `hidden` are folders in what is bound that are empty inside, `modules` what is loaded beforehand
    of the packages in `PACKAGES`, `plugins` the packages whose plugins for pytest are.
    A process with a hash seed of its own has nothing else loaded beforehand.
    """

    read_only: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    python: str
    hidden: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    hash_seed: int = 0

    @property
    def is_bare(self) -> bool:
        """Whether nothing is loaded but what a run loads itself."""
        return self.hash_seed != 0

    def with_packages(self, packages: InstalledPackages) -> GuestMounts:
        """The same, and the packages, if there are any."""
        if not packages:
            return self
        pairs = (*self.read_only, (packages.folder, PACKAGES))
        return replace(self, read_only=pairs, modules=packages.preloadable_modules)


def build_guest_mounts(packages: tuple[str, ...] = ("pytest",)) -> GuestMounts:
    """The interpreter, the packages with all that they need, the system's libraries, the inside."""
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
    binds.append((_compile_guest(), f"{HOME}/guest"))
    binds.extend((source, f"{SITE}/{name}") for name, source in list_site_entries(packages))
    return GuestMounts(
        tuple(binds), tuple(links), python, _find_hidden_folders([target for _, target in binds])
    )


def _compile_guest() -> str:
    """The folder of our inside, compiled: what sees it may not write there, and would compile it
    at each start anew where nobody has (a checkout, an editable installation)."""
    folder = str(Path(guest.__file__).parent)
    if not sys.dont_write_bytecode:
        compileall.compile_dir(folder, quiet=2)
    return folder


def _find_hidden_folders(targets: list[str]) -> tuple[str, ...]:
    """What the person has installed into the interpreter itself: it lies below its prefix."""
    places = site.getsitepackages([sys.base_prefix, sys.base_exec_prefix])
    found = {os.path.realpath(item) for item in places if os.path.isdir(item)}
    return tuple(
        path for path in sorted(found) if any(path.startswith(f"{item}/") for item in targets)
    )


def link_site(mounts: GuestMounts, folder: Path) -> None:
    """Fills a folder with links to the packages, where a run sees this machine's own paths."""
    for source, target in mounts.read_only:
        if target.startswith(f"{SITE}/"):
            (folder / Path(target).name).symlink_to(source)


def list_site_entries(packages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Top-level entries (name, path) of the packages and of what they need, installed here."""
    found: dict[str, str] = {}
    for name in _resolve_requirements(packages):
        for entry, path in _iter_entries(distribution(name)):
            found.setdefault(entry, path)
    return sorted(found.items())


def _resolve_requirements(packages: tuple[str, ...]) -> list[str]:
    """Names of the packages and, without extras, of all that they require and that is installed."""
    waiting, seen = list(packages), dict[str, None]()
    while waiting:
        name = waiting.pop()
        if name in seen or not _is_installed(name):
            continue
        seen[name] = None
        required = distribution(name).requires or []
        names = (_NAME.match(item) for item in required if "extra ==" not in item)
        waiting.extend(found[0] for found in names if found)
    return list(seen)


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _iter_entries(package: Distribution) -> Iterator[tuple[str, str]]:
    for top in dict.fromkeys(file.parts[0] for file in package.files or ()):
        if top not in ("..", "__pycache__") and not top.endswith(".pth"):
            yield top, os.path.realpath(str(package.locate_file(top)))
