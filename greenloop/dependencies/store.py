"""Cache of installed packages: a folder for each set of requirements, complete or absent."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from pydantic import ValidationError

from greenloop.dependencies.names import parse_package_name
from greenloop.dependencies.pip import Manifest, build_manifest, pip_install
from greenloop.errors import PackagesError
from greenloop.versions import get_installed_version

_MANIFEST = "manifest.json"
# A set is also a virtual environment, whose interpreter is greenloop's own.
_SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
_POLL_SECONDS = 0.1
# First on a run's path, so that packages depending on them get these versions.
_PINNED_PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


class PackageStore:
    """Cache of package sets; safe for concurrent threads and processes.

    A set is installed into a temporary folder and renamed, so that an incomplete one is never
    visible.
    """

    def __init__(self, root: Path | None = None, constraints: Sequence[str] | None = None) -> None:
        """Use `root`, or the user's cache folder (by `XDG_CACHE_HOME`).

        Without `constraints`, packages that pytest needs are pinned to greenloop's own versions.
        """
        self.root = root or Path(platformdirs.user_cache_dir("greenloop")) / "packages"
        self._constraints = list(_list_pinned() if constraints is None else constraints)

    def find(self, requirements: Sequence[str]) -> "InstalledPackages | None":
        """Return a set that is installed, else None; needs no network."""
        folder = self._folder_for(requirements).resolve()
        try:
            manifest = Manifest.model_validate_json((folder / _MANIFEST).read_bytes())
        except (OSError, ValidationError):
            return None
        return InstalledPackages(
            names=tuple(sorted(parse_package_name(item) for item in requirements)),
            folder=str(folder / _SITE),
            versions=tuple((w.name, f"{w.version} sha256:{w.sha256}") for w in manifest.wheels),
        )

    def install(
        self, requirements: Sequence[str], stop: threading.Event | None = None
    ) -> "InstalledPackages":
        """Return the set, from the cache or newly installed; setting `stop` cancels.

        Raises:
            PackagesError: it cannot be installed, or `stop` was set. Nothing incomplete is left.
        """
        if not requirements:
            return InstalledPackages()
        stop = stop or threading.Event()
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock_folder(self._folder_for(requirements).name, stop):
                return self.find(requirements) or self._install_new(requirements, stop)
        except OSError as error:
            raise PackagesError(
                f"{', '.join(requirements)} cannot be installed into the cache {self.root}: "
                f"{error.strerror or error} (set XDG_CACHE_HOME to another folder)"
            ) from None

    def link(self, requirements: Sequence[str], installed: "InstalledPackages") -> None:
        """Make an installed set the cache entry of requirements that cannot be installed."""
        link = self._folder_for(requirements)
        link.unlink(missing_ok=True)
        link.symlink_to(Path(installed.folder).parents[2].name)

    def list_folders(self) -> list[Path]:
        """Return the folders of all installed sets."""
        found = (item.parent for item in sorted(self.root.glob(f"[!.]*/{_MANIFEST}")))
        return [folder for folder in found if not folder.is_symlink()]

    def remove(self, folder: Path) -> None:
        """Remove an installed set, not while a process installs or looks it up."""
        with self._lock_folder(folder.name, threading.Event()):
            shutil.rmtree(folder, ignore_errors=True)

    def _folder_for(self, requirements: Sequence[str]) -> Path:
        """Return the folder of a set; its name has a digest of requirements and interpreter."""
        key_parts = [sorted(requirements), _interpreter_tags(), self._constraints, _SITE]
        key = hashlib.sha256(json.dumps(key_parts).encode()).hexdigest()[:24]
        names = "-".join(sorted(parse_package_name(item) for item in requirements))
        return self.root / f"{names[:60]}-{key}"

    def _install_new(
        self, requirements: Sequence[str], stop: threading.Event
    ) -> "InstalledPackages":
        folder = self._folder_for(requirements)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=self.root))
        try:
            site = staging / _SITE
            site.parent.mkdir(parents=True)
            report = pip_install(requirements, self._constraints, staging, site, stop)
            shutil.rmtree(site / "bin", ignore_errors=True)
            _make_world_readable(site)
            _make_environment(staging)
            manifest = build_manifest(report)
            (staging / _MANIFEST).write_text(manifest.model_dump_json(), encoding="utf-8")
            if self.find(requirements) is None:
                shutil.rmtree(folder, ignore_errors=True)  # one without a manifest
                with contextlib.suppress(OSError):  # another process was first
                    os.rename(staging, folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        found = self.find(requirements)
        if found is None:
            raise PackagesError(f"{folder} changed during the installation: try again")
        return found

    @contextlib.contextmanager
    def _lock_folder(self, name: str, stop: threading.Event) -> Iterator[None]:
        """Wait for another process that installs the same set; remove what a killed one left.

        Where the file system has no locks, both install, and the first to finish is used.
        """
        handle = os.open(self.root / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _acquire_lock(handle, stop):
                for stale in filter(Path.is_dir, self.root.glob(f".{name}.*")):
                    shutil.rmtree(stale, ignore_errors=True)
            yield
        finally:
            os.close(handle)


def _acquire_lock(handle: int, stop: threading.Event) -> bool:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if stop.wait(_POLL_SECONDS):
                raise PackagesError("the installation of packages was interrupted") from None
        except OSError:
            return False


def _make_environment(folder: Path) -> None:
    """Make a folder with packages a virtual environment (PEP 405) that all users can read."""
    (folder / "bin").mkdir()
    python = os.path.realpath(sys.executable)
    (folder / "bin" / "python").symlink_to(python)
    version = ".".join(map(str, sys.version_info[:3]))
    lines = f"home = {os.path.dirname(python)}\nversion = {version}\n"
    (folder / "pyvenv.cfg").write_text(lines, encoding="utf-8")
    (folder / "pyvenv.cfg").chmod(0o644)
    for path in (folder, folder / "bin", folder / "lib", (folder / _SITE).parent):
        path.chmod(0o755)


def _make_world_readable(site: Path) -> None:
    """Grant read access to all: in a sandbox started by root, code runs as `nobody`."""
    for folder, _, names in os.walk(site):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o644)


def _interpreter_tags() -> list[str]:
    """Return what wheels depend on: implementation, version, ABI and platform."""
    tag = sys.implementation.cache_tag or sys.version
    return [tag, str(sysconfig.get_config_var("SOABI")), sysconfig.get_platform()]


def _list_pinned() -> list[str]:
    versions = {name: get_installed_version(name) for name in _PINNED_PACKAGES}
    return [f"{name}=={version}" for name, version in versions.items() if version]


@dataclass(frozen=True)
class InstalledPackages:
    """An installed set of packages, as a sandbox uses it; false where it is empty.

    `names` were requested; `versions` lists all packages, dependencies included, as (name, "version
    sha256:…" of the wheel).
    """

    names: tuple[str, ...] = ()
    folder: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def import_names(self) -> frozenset[str]:
        """The import names of all packages, dependencies included."""
        entries = os.listdir(self.folder) if self else ()
        return frozenset(name.partition(".")[0] for name in entries)

    def __bool__(self) -> bool:
        return bool(self.names)

    def version(self, name: str) -> str:
        """Return a package's version; '' where it is not installed."""
        return dict(self.versions).get(name, "").partition(" ")[0]

    def summary(self) -> str:
        """Return the requested packages with versions in one line."""
        return ", ".join(f"{name} {self.version(name)}".strip() for name in self.names)
