"""Facts about a Python environment, read from files without starting its interpreter."""

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.errors import InputError
from greenloop.files import read_or_empty
from greenloop.sandbox.guest.pytest_plugin.plugins import SWITCHED_OFF

_MIN_PYTHON, _MIN_PYTEST = (3, 10), (7, 4)
_MAX_LINKS = 40
LIBRARIES = ("lib", "lib64")  # the second one on Fedora, RHEL and openSUSE
_MARKS = ("pyvenv.cfg", "conda-meta")  # of an environment's folder
_HOME = re.compile(r"(?m)^home *= *(.+?) *$")
_SEES_BASE = re.compile(r"(?mi)^include-system-site-packages *= *true")
_PLUGINS = re.compile(r"(?m)^\[pytest11\]")  # of entry points
_VERSION = re.compile(r"(?m)^version(?:_info)? *= *(\d+\.\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Environment:
    """An interpreter and where it finds its packages.

    Attributes:
        python: Path of the interpreter in the environment.
        prefix: Folder of the environment.
        base: Folder of the Python installation that the interpreter belongs to.
        links: Symbolic links (target, path) from the environment's interpreter to the installation.
        sees_base: Whether packages of the installation can be imported (system site packages).
        origin: How the environment was found, for messages.
        sources: Import folders of a project that is not installed in its environment.
    """

    python: str
    prefix: str
    base: str
    links: tuple[tuple[str, str], ...]
    sees_base: bool
    origin: str = ""
    sources: tuple[str, ...] = ()

    @cached_property
    def site_folders(self) -> tuple[Path, ...]:
        """The package folders of the environment, then those of the installation."""
        tops = [self.prefix, *([self.base] if self.sees_base else [])]
        if self.sees_base and self.base == "/usr":
            tops.append("/usr/local")
        found = [
            path
            for top in dict.fromkeys(tops)
            for kind in ("site-packages", "dist-packages")
            for path in list_library_entries(top, f"python3*/{kind}")
            if _matches(path.parent.name, self.python_version) or path.parent.name == "python3"
        ]
        return tuple(found)

    @cached_property
    def python_version(self) -> str:
        """The version of Python, as exactly as it can be read: `3.12.1` or `3.12`."""
        found = _VERSION.search(read_or_empty(Path(self.prefix, "pyvenv.cfg")))
        if found:
            return found[1]
        name = os.path.basename(os.path.realpath(self.python))
        if re.fullmatch(r"python3\.\d+", name):
            return name.removeprefix("python")
        folders = list_library_entries(self.base, "python3.*/os.py")
        return folders[-1].parent.name.removeprefix("python") if folders else "3"

    @property
    def is_newer(self) -> bool:
        """Whether the Python has a later feature version, and so newer syntax, than greenloop's."""
        return _to_numbers(self.python_version)[:2] > sys.version_info[:2]

    @cached_property
    def pytest_version(self) -> str:
        """The version of pytest, '' if it is not installed."""
        for site in self.site_folders:
            for folder in site.glob("pytest-*.*-info"):
                return folder.name.removesuffix(folder.suffix).partition("-")[2]
        return ""

    def list_missing(self, packages: Iterable[str]) -> list[str]:
        """Return the names among `packages` (PEP 503) that are not installed."""
        folders = (folder.name for site in self.site_folders for folder in site.glob("*.*-info"))
        installed = {canonicalize_name(name.partition("-")[0]) for name in folders}
        return [name for name in packages if name not in installed]

    @cached_property
    def plugins(self) -> tuple[str, ...]:
        """The names of the packages that register pytest plug-ins."""
        found = [
            file.parent.name.partition("-")[0]
            for site in self.site_folders
            for file in sorted(site.glob("*.*-info/entry_points.txt"))
            if _PLUGINS.search(read_or_empty(file))
        ]
        return tuple(dict.fromkeys(found))

    def describe(self, root: str) -> str:
        """Return a one-line description, with paths relative to the project's `root`."""
        place = self.origin if self.sources else self.prefix
        if place.startswith(f"{root}/"):
            place = os.path.relpath(place, root)
        count = len(self.plugins)
        plugins = f"{count} plug-in{'' if count == 1 else 's'}"
        added = [
            f", with {option}"
            for name, option in SWITCHED_OFF.items()
            if not {name, f"pytest_{name}"}.isdisjoint(self.plugins)
        ]
        versions = f"Python {self.python_version}, pytest {self.pytest_version}"
        return f"environment {place}, {versions}, {plugins}{''.join(added)}"

    def explain_unusable(self) -> str:
        """Return why tests cannot run in the environment, with a remedy, or ''."""
        version = _to_numbers(self.python_version)
        if len(version) > 1 and version < _MIN_PYTHON:
            return f"{self.prefix} has Python {self.python_version}; 3.10 or later is needed"
        if not self.pytest_version:
            install = f"{self.python} -m pip install pytest"
            return f"{self.prefix} has no pytest: {install}, or name another one by --python"
        if _to_numbers(self.pytest_version) < _MIN_PYTEST:
            return f"{self.prefix} has pytest {self.pytest_version}; 7.4 or later is needed"
        return ""


def read_environment(python: str, origin: str) -> Environment:
    """Read an environment, named by its interpreter or its folder.

    Raises:
        InputError: `python` is neither of these, or belongs to no installation of Python.
    """
    path = os.path.abspath(python)
    if os.path.isdir(path):
        path = os.path.join(path, "bin", "python")
    if not os.path.isfile(path):
        raise InputError(f"{origin}: {python} is no Python interpreter or environment")
    prefix = os.path.dirname(os.path.dirname(path))
    base = os.path.dirname(os.path.dirname(os.path.realpath(path)))
    if not any(
        os.path.exists(f"{prefix}/{name}") for name in _MARKS
    ):  # a link, such as ~/bin/python
        path, prefix = os.path.realpath(path), base
    if not list_library_entries(base, "python3*/os.py"):
        raise InputError(
            f"{origin}: {python} belongs to no installation of Python: {base} has no standard library"
        )
    config = read_or_empty(Path(prefix, "pyvenv.cfg"))
    links = trace_links(path)
    if home := _HOME.search(config):
        links += trace_links(home[1])
    sees_base = not config or bool(_SEES_BASE.search(config))
    return Environment(path, prefix, base, tuple(dict.fromkeys(links)), sees_base, origin)


def list_library_entries(top: str, pattern: str) -> list[Path]:
    """Return the paths in the libraries of an installation that match, each folder once."""
    found = (i for name in LIBRARIES for i in sorted(Path(top, name).glob(pattern)))
    return list({os.path.realpath(item): item for item in reversed([*found])}.values())[::-1]


def trace_links(path: str) -> list[tuple[str, str]]:
    """Return the symbolic links in the resolution of a path, as (target, path)."""
    found: dict[str, str] = {}
    current = path
    for _ in range(_MAX_LINKS):
        done, parts = "", current.split("/")[1:]
        for number, part in enumerate(parts):
            done = f"{done}/{part}"
            if os.path.islink(done):
                found[done] = os.readlink(done)
                above = os.path.join(os.path.dirname(done), found[done])
                current = "/".join([os.path.normpath(above), *parts[number + 1 :]])
                break
        else:
            break
    return [(target, link) for link, target in found.items()]


def _matches(folder: str, version: str) -> bool:
    """Return whether `python3.12` or `python3.13t` is the folder of a version such as `3.12.1`."""
    numbers = ".".join(version.split(".")[:2])
    return version == "3" or folder.removeprefix("python").rstrip("t") == numbers


def _to_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(item) for item in re.findall(r"\d+", version)[:3])
