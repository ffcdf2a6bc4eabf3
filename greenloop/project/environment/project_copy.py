"""Copies of projects for sandboxes, and sandboxes that run a project's environment."""

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from greenloop.errors import InputError, OutputError, SandboxError
from greenloop.project.environment.bytecode import compile_packages
from greenloop.project.environment.folders import (
    list_copied_sources,
    list_other_folders,
    list_private_entries,
)
from greenloop.project.environment.generated_files import generate_files
from greenloop.project.environment.interpreter import (
    LIBRARIES,
    Environment,
    list_library_entries,
)
from greenloop.project.exclusions import holds_private_key, is_excluded_file, is_excluded_folder
from greenloop.project.git import list_files, run_git
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.cleanup import create_temporary_folder, remove_folder
from greenloop.sandbox.environment import GuestEnvironment
from greenloop.sandbox.work.file_layout import format_mb

_UNPRIVILEGED_ID = 65534  # the user and group of runs if greenloop is started by root
_MAX_BYTES, _MAX_FILES, _MAX_KEY_BYTES = 2 << 30, 200_000, 1 << 16
_BUILT = (".py", ".so", ".pyd", ".pyi", ".dylib")
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
    notify: Callable[[str], None] = lambda line: None,
) -> Iterator[Sandbox]:
    """Open a sandbox that runs tests of a project in its environment, with these variables.

    `omitted` are files of the project, by relative path, that are not copied. `notify` gets a line
    if others are left out.

    Raises:
        InputError: the project is too large, or its environment names folders with secrets.
        SandboxError: sandboxes of this kind run no other interpreter, or nothing can be copied.
    """
    compile_packages(environment)
    folder = create_temporary_folder()
    try:
        copy_project(root, folder / "copy", omitted, notify)
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
    names = ("bin", *LIBRARIES, "include")
    own = [item for name in names if os.path.isdir(item := f"{base}/{name}")]
    others = list_other_folders(environment, root)
    wanted = [*own, *([prefix] if prefix != base else []), *others]
    wanted = [item for item in dict.fromkeys(wanted) if item != root]
    folders = [i for i in wanted if not any(_is_shown(i, other, root) for other in wanted)]
    sites = [*map(str, list_library_entries(base, "python3*/site-packages"))]
    variables = {"PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin"}
    if os.path.exists(f"{prefix}/pyvenv.cfg"):
        variables["VIRTUAL_ENV"] = prefix
    if sources := environment.sources or list_copied_sources(environment, root):
        variables["PYTHONPATH"] = ":".join(sources)
    masked = [f"{prefix}/{name}" for name in _MASKED]
    private = [item for folder in others for item in list_private_entries(folder)]
    shown = (*(f"{base}/{name}" for name in LIBRARIES), *map(str, environment.site_folders))
    return GuestEnvironment(
        python=environment.python,
        root=root,
        copy=copy,
        folders=tuple(folders),
        links=environment.links,
        hidden=(*(() if environment.sees_base else sites), *filter(os.path.isdir, private)),
        shown=shown if environment.sees_base else (),
        masked=tuple(path for path in [*masked, *private] if os.path.isfile(path)),
        variables=tuple({**variables, **added}.items()),
    )


def _is_shown(folder: str, other: str, root: str) -> bool:
    """Return whether mounting `other` shows `folder`; the project's copy hides folders in it."""
    is_hidden = folder.startswith(f"{root}/") and not other.startswith(f"{root}/")
    return folder.startswith(f"{other}/") and not is_hidden


def copy_project(
    root: Path,
    target: Path,
    omitted: Collection[str] = (),
    notify: Callable[[str], None] = lambda line: None,
) -> None:
    """Copy a project without caches, environments, secrets and the `omitted` files.

    Files that git ignores are copied, as they may be built modules; data among them is left out if
    the project is too large with it. Files in test folders that git tracks are copied, too, even keys.

    Raises:
        InputError: the files are too many or too large.
        SandboxError: the files cannot be copied.
    """
    try:
        folders, files = _list_entries(root, target, omitted)
        if _is_too_large(files):
            known = list_files(root) or files.keys()
            kept = {p: n for p, n in files.items() if p in known or p.endswith(_BUILT)}
            place = f"{root} is too large for a sandbox, most of it in {_name_largest(files)}"
            if _is_too_large(kept):
                raise InputError(f"{place}: name a smaller folder")
            files = kept
            notify(f"{place}: data that git ignores is left out")
        fixtures = _list_fixtures(root)
        for path in files:
            _copy_file(f"{root}/{path}", path, os.path.dirname(target / path), path in fixtures)
        for inner in reversed(folders):  # a folder that cannot be written is filled before
            shutil.copymode(root / inner, target / inner)
        if os.getuid() == 0:
            _give_to_unprivileged(target)
    except OSError as error:
        raise SandboxError(f"the project cannot be copied: {error}") from None


def _list_entries(
    root: Path, target: Path, omitted: Collection[str]
) -> tuple[list[str], dict[str, int]]:
    """Return the folders, which are made in `target`, and the files with their sizes."""
    found, sizes = [], {}
    for above, folders, files in os.walk(root):
        inner = os.path.relpath(above, root)
        there = os.path.normpath(target / inner)
        os.makedirs(there, exist_ok=True)
        found.append(inner)
        folders[:] = [name for name in folders if _is_copied(inner, above, name, there)]
        for path in (os.path.normpath(os.path.join(inner, name)) for name in files):
            if path not in omitted:
                sizes[path] = os.lstat(root / path).st_size
    return found, sizes


def _name_largest(files: Mapping[str, int]) -> str:
    """Return the largest entries of the project's folder with their sizes."""
    sizes = Counter[str]()
    for path, size in files.items():
        sizes[path.partition("/")[0]] += size
    return ", ".join(f"{name} ({format_mb(size)})" for name, size in sizes.most_common(3))


def _is_too_large(files: Mapping[str, int]) -> bool:
    return len(files) > _MAX_FILES or sum(files.values()) > _MAX_BYTES


def _is_copied(inner: str, above: str, name: str, there: str) -> bool:
    """Return whether to descend into a folder; a link to a folder is copied as a link."""
    full, path = f"{above}/{name}", os.path.normpath(os.path.join(inner, name))
    if os.path.basename(above) == _STORAGE and name != _TABLES:
        return False
    if name != _STORAGE and is_excluded_folder(path, full):
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


def _copy_file(source: str, path: str, folder: str, is_fixture: bool) -> None:
    """Copy a file, or a link as a link, unless it is excluded."""
    target = f"{folder}/{os.path.basename(source)}"
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        return
    is_readable = os.path.isfile(source) and os.access(source, os.R_OK)
    if not is_readable or (is_excluded_file(path) and not is_fixture):
        return
    may_be_key = os.stat(source).st_size < _MAX_KEY_BYTES and not source.endswith(".py")
    may_be_key = may_be_key and not is_fixture
    if may_be_key and holds_private_key(path, Path(source).read_bytes()):
        return
    shutil.copy2(source, target, follow_symlinks=False)


def _give_to_unprivileged(folder: Path) -> None:
    """Make the unprivileged user the owner of all files, with full access to all folders."""
    for above, folders, files in os.walk(folder):
        os.chmod(above, os.stat(above).st_mode | 0o700)
        for path in (above, *(f"{above}/{name}" for name in (*folders, *files))):
            os.chown(path, _UNPRIVILEGED_ID, _UNPRIVILEGED_ID, follow_symlinks=False)
