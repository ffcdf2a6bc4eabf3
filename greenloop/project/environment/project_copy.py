"""Copies of projects for sandboxes, and sandboxes that run a project's environment."""

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from greenloop.errors import InputError, OutputError, SandboxError
from greenloop.project.environment.bytecode import compile_packages
from greenloop.project.environment.folders import list_copied_sources, list_other_folders
from greenloop.project.environment.generated_files import generate_files
from greenloop.project.environment.interpreter import Environment
from greenloop.project.exclusions import (
    explain_content_exclusion,
    explain_file_exclusion,
    explain_folder_exclusion,
)
from greenloop.project.git import run_git
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.cleanup import create_temporary_folder, remove_folder
from greenloop.sandbox.environment import GuestEnvironment

_UNPRIVILEGED_ID = 65534  # the user and group of runs if greenloop is started by root
_MAX_BYTES, _MAX_FILES, _MAX_KEY_BYTES = 2 << 30, 200_000, 1 << 16
_TEST_FOLDERS = frozenset({"test", "tests", "testing"})
# Hypothesis' tables of characters take seconds to compute; its failing examples are not copied.
_STORAGE, _TABLES = ".hypothesis", "unicode_data"
_MASKED = ("pip.conf", "conda-meta/state")  # may hold passwords, and values of variables


@contextlib.contextmanager
def open_environment(
    box: Sandbox,
    environment: Environment,
    root: Path,
    variables: Mapping[str, str] | None = None,
    omitted: Collection[str] = (),
) -> Iterator[Sandbox]:
    """Open a sandbox that runs tests of a project in its environment, with these variables.

    `omitted` are files of the project, by relative path, that are not copied.

    Raises:
        InputError: the project is too large, or its environment names folders with secrets.
        SandboxError: sandboxes of this kind run no other interpreter, or nothing can be copied.
    """
    compile_packages(environment)
    folder = create_temporary_folder()
    try:
        copy_project(root, folder / "copy", omitted)
        if environment.sources:
            _add_generated_files(folder / "copy")
        (folder / "empty").mkdir()
        (folder / "blank").touch()
        guest = build_guest(environment, str(root), folder / "copy", variables or {})
        with box.open_environment(guest) as opened:
            yield opened
    finally:
        remove_folder(folder)


def _add_generated_files(folder: Path) -> None:
    """Add the files that an installation of the project would have made."""

    def read(path: str) -> bytes | None:
        return (folder / path).read_bytes() if (folder / path).is_file() else None

    for path, content in generate_files(read).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)


def build_guest(
    environment: Environment, root: str, copy: Path, added: Mapping[str, str]
) -> GuestEnvironment:
    """Return the mounts and variables of a guest. Raises InputError for folders with secrets."""
    base, prefix = environment.base, environment.prefix
    # Not the whole base, as other environments may be in it. Tests of extensions need its headers.
    own = [item for name in ("bin", "lib", "include") if os.path.isdir(item := f"{base}/{name}")]
    wanted = [*own, *([prefix] if prefix != base else []), *list_other_folders(environment, root)]
    wanted = [item for item in dict.fromkeys(wanted) if item != root]
    folders = [i for i in wanted if not any(_is_shown(i, other, root) for other in wanted)]
    sites = [str(item) for item in sorted(Path(base, "lib").glob("python3*/site-packages"))]
    variables = {"PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin"}
    if os.path.exists(f"{prefix}/pyvenv.cfg"):
        variables["VIRTUAL_ENV"] = prefix
    if sources := environment.sources or list_copied_sources(environment, root):
        variables["PYTHONPATH"] = ":".join(sources)
    masked = (f"{prefix}/{name}" for name in _MASKED)
    return GuestEnvironment(
        python=environment.python,
        root=root,
        copy=copy,
        folders=tuple(folders),
        links=environment.links,
        hidden=() if environment.sees_base else tuple(sites),
        shown=(f"{base}/lib",) if environment.sees_base else (),
        masked=tuple(path for path in masked if os.path.exists(path)),
        variables=tuple({**variables, **added}.items()),
    )


def _is_shown(folder: str, other: str, root: str) -> bool:
    """Return whether mounting `other` shows `folder`; the project's copy hides folders in it."""
    is_hidden = folder.startswith(f"{root}/") and not other.startswith(f"{root}/")
    return folder.startswith(f"{other}/") and not is_hidden


def copy_project(root: Path, target: Path, omitted: Collection[str] = ()) -> None:
    """Copy a project without caches, environments, secrets and the `omitted` files.

    Files that git ignores are copied, as they may be built modules. Files in test folders that git
    tracks are copied, too, even keys.

    Raises:
        InputError: the files are too many or too large.
        SandboxError: the files cannot be copied.
    """
    count = size = 0
    fixtures = _list_fixtures(root)
    try:
        for above, folders, files in os.walk(root):
            inner = os.path.relpath(above, root)
            there = os.path.normpath(target / inner)
            os.makedirs(there, exist_ok=True)
            shutil.copymode(above, there)
            folders[:] = [name for name in folders if _is_copied(inner, above, name, there)]
            for name in files:
                path = os.path.normpath(os.path.join(inner, name))
                if path in omitted:
                    continue
                count += 1
                size += _copy_file(f"{above}/{name}", path, there, path in fixtures)
                if count > _MAX_FILES or size > _MAX_BYTES:
                    raise InputError(f"{root} is too large for a sandbox: name a smaller folder")
        if os.getuid() == 0:
            _give_to_unprivileged(target)
    except OSError as error:
        raise SandboxError(f"the project cannot be copied: {error}") from None


def _is_copied(inner: str, above: str, name: str, there: str) -> bool:
    """Return whether to descend into a folder; a link to a folder is copied as a link."""
    full, path = f"{above}/{name}", os.path.normpath(os.path.join(inner, name))
    if os.path.basename(above) == _STORAGE and name != _TABLES:
        return False
    if name != _STORAGE and explain_folder_exclusion(path, full):
        return False
    if os.path.islink(full):
        os.symlink(os.readlink(full), f"{there}/{name}")
        return False
    return os.access(full, os.R_OK | os.X_OK)


def _list_fixtures(root: Path) -> frozenset[str]:
    """Return the files that git tracks in test folders."""
    try:
        tracked = run_git(root, "ls-files", "-z", "--cached").split("\0")
    except OutputError:
        return frozenset()
    return frozenset(path for path in tracked if _TEST_FOLDERS.intersection(path.split("/")[:-1]))


def _copy_file(source: str, path: str, folder: str, is_fixture: bool) -> int:
    """Copy a file, or a link as a link; return the size, 0 for a link or an excluded file."""
    target = f"{folder}/{os.path.basename(source)}"
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return 0
    is_readable = os.path.isfile(source) and os.access(source, os.R_OK)
    if not is_readable or (explain_file_exclusion(path) and not is_fixture):
        return 0
    size = os.stat(source).st_size
    may_be_key = size < _MAX_KEY_BYTES and not source.endswith(".py") and not is_fixture
    if may_be_key and explain_content_exclusion(path, Path(source).read_bytes()):
        return 0
    shutil.copy2(source, target, follow_symlinks=False)
    return size


def _give_to_unprivileged(folder: Path) -> None:
    """Make the unprivileged user the owner of all files, with full access to all folders."""
    for above, folders, files in os.walk(folder):
        os.chmod(above, os.stat(above).st_mode | 0o700)
        for path in (above, *(f"{above}/{name}" for name in (*folders, *files))):
            os.chown(path, _UNPRIVILEGED_ID, _UNPRIVILEGED_ID, follow_symlinks=False)
