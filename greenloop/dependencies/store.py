"""The cache of installed packages: a folder for each set of requirements, whole or not there."""

from __future__ import annotations

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
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import platformdirs
from pydantic import ValidationError

from greenloop.dependencies.manifest import Manifest, build_manifest, is_intact
from greenloop.dependencies.names import get_import_names, parse_package_name
from greenloop.dependencies.pip import pip_install
from greenloop.errors import PackagesError

_MANIFEST = "manifest.json"
_SITE = "site-packages"  # by this name some packages tell others from a run's own modules
_POLL_SECONDS = 0.1
# These stand before the packages on a run's path, so what needs them has to take these versions.
_PINNED_PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


class PackageStore:
    """Safe to use from several threads and processes at once.

    A set is installed into a folder beside its place and then renamed, so that it is never seen
    half-made, whoever is interrupted. Its files are checked against their digests before each use.
    """

    def __init__(self, root: Path | None = None) -> None:
        """In the user's cache folder (`XDG_CACHE_HOME` is honoured) where no `root` is given."""
        self.root = root or Path(platformdirs.user_cache_dir("greenloop")) / "packages"

    def find(self, requirements: Sequence[str]) -> InstalledPackages | None:
        """A set that is there and whole; no network is needed. None where it is not."""
        place = self._folder_for(requirements)
        try:
            text = (place / _MANIFEST).read_bytes()
            manifest = Manifest.model_validate_json(text)
        except (OSError, ValidationError):
            return None
        if not is_intact(place / _SITE, manifest):
            return None
        return InstalledPackages(
            names=tuple(sorted(parse_package_name(item) for item in requirements)),
            folder=str(place / _SITE),
            versions=tuple((w.name, f"{w.version} sha256:{w.sha256}") for w in manifest.wheels),
            preloadable_modules=manifest.modules,
            digest=hashlib.sha256(text).hexdigest(),
        )

    def install(
        self, requirements: Sequence[str], stop: threading.Event | None = None
    ) -> InstalledPackages:
        """The set, from the cache or newly installed; `stop` ends the waiting for it.

        Raises:
            PackagesError: it cannot be installed, or `stop` was set. Nothing is left half-made.
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
                f"{error.strerror or error} (XDG_CACHE_HOME names another place)"
            ) from None

    def list_folders(self) -> list[Path]:
        """The folders of all sets that are there."""
        return [item.parent for item in sorted(self.root.glob(f"[!.]*/{_MANIFEST}"))]

    def _folder_for(self, requirements: Sequence[str]) -> Path:
        """A folder's name says what it was made of and for."""
        made_of = [sorted(requirements), _interpreter_tags(), _pinned_constraints()]
        key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:24]
        names = "-".join(sorted(parse_package_name(item) for item in requirements))
        return self.root / f"{names[:60]}-{key}"

    def _install_new(self, requirements: Sequence[str], stop: threading.Event) -> InstalledPackages:
        place = self._folder_for(requirements)
        room = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=self.root))
        try:
            site = room / _SITE
            report = pip_install(requirements, _pinned_constraints(), site, stop)
            shutil.rmtree(site / "bin", ignore_errors=True)
            _make_world_readable(site)
            asked_for = frozenset(parse_package_name(item) for item in requirements)
            manifest = build_manifest(site, report, asked_for)
            (room / _MANIFEST).write_text(manifest.model_dump_json(), encoding="utf-8")
            if self.find(requirements) is None:
                _publish(room, place)
        finally:
            shutil.rmtree(room, ignore_errors=True)
        found = self.find(requirements)
        if found is None:
            raise PackagesError(f"{place} was changed while it was installed: try again")
        return found

    @contextlib.contextmanager
    def _lock_folder(self, name: str, stop: threading.Event) -> Iterator[None]:
        """Another process that installs the same is waited for. What a dead one left is taken away.

        Where the file system knows no locks, both install and the first to be done counts.
        """
        handle = os.open(self.root / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _acquire_lock(handle, stop):
                for left in filter(Path.is_dir, self.root.glob(f".{name}.*")):
                    shutil.rmtree(left, ignore_errors=True)
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


def _publish(staging: Path, target: Path) -> None:
    """`room` in its place, all at once; what is there is damaged and makes way."""
    try:
        os.rename(staging, target)
    except OSError:
        if not target.is_dir():
            raise
        gone = Path(tempfile.mkdtemp(prefix=f"{staging.name}.", dir=staging.parent))
        try:
            os.rename(target, gone / "old")
            os.rename(staging, target)
        finally:
            shutil.rmtree(gone, ignore_errors=True)


def _make_world_readable(site: Path) -> None:
    """Behind a wall that root has built code runs as nobody."""
    for folder, _, names in os.walk(site):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o644)


def _interpreter_tags() -> list[str]:
    """What a wheel has to fit: implementation, version, binary interface, platform."""
    tag = sys.implementation.cache_tag or sys.version
    return [tag, str(sysconfig.get_config_var("SOABI")), sysconfig.get_platform()]


def _pinned_constraints() -> list[str]:
    found = []
    for name in _PINNED_PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{name}=={version(name)}")
    return found


@dataclass(frozen=True)
class InstalledPackages:
    """What a sandbox needs to know of packages; without any, nothing is added to it.

    `names` were asked for; `versions` are all that are there, dependencies too, as (name, "version
    sha256:…" of the wheel). `modules` may be imported beforehand. `digest` tells two installations
    apart that lie in the same `folder` one after the other.
    """

    names: tuple[str, ...] = ()
    folder: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    preloadable_modules: tuple[str, ...] = ()
    digest: str = ""

    @property
    def import_names(self) -> frozenset[str]:
        """The names by which they are imported."""
        known = (module for name in self.names for module in get_import_names(name))
        return frozenset((*self.preloadable_modules, *known))

    def __bool__(self) -> bool:
        return bool(self.names)

    def version(self, name: str) -> str:
        """A package's version alone, '' where it is not there."""
        return dict(self.versions).get(name, "").partition(" ")[0]

    def summary(self) -> str:
        """What was asked for, with versions, in one line."""
        return ", ".join(f"{name} {self.version(name)}".strip() for name in self.names)
