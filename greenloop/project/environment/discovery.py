"""Which environment runs the tests of a project."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from greenloop.configuration import find_project_file, read_project_table
from greenloop.errors import InputError, OutputError
from greenloop.project.environment.folders import (
    list_named_folders,
    list_source_folders,
    may_hold_secrets,
)
from greenloop.project.environment.interpreter import Environment, read_environment
from greenloop.project.environment.making import find_made_environment, make_environment
from greenloop.project.git import run_git

ENVIRONMENT_NAMES = (".venv", "venv")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_CONFIG_FILES = (
    "pytest.toml .pytest.toml pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg".split()
)
_OPTION = re.compile(r"(?m)^\[(tool[.:])?pytest[^]\n]*\]\s*^[^\[\s]")


def find_project_root(path: Path) -> Path | None:
    """Return the folder of the project that a file or folder belongs to, None where there is none.

    It is the nearest one with a file that configures a project, else that of the repository; never
    the home folder or one above it, whose other files are no part of a project.
    """
    start = path.absolute()
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    for folder in folders:
        if may_hold_secrets(str(folder)):
            return None
        if any((folder / name).is_file() for name in _PROJECT_FILES):
            return folder
        if (folder / ".git").exists():
            return folder
    return None


def find_pytest_root(root: Path) -> Path:
    """Return a project's folder, or the nearest above it in the repository whose options of pytest hold for it."""
    if (root / "pytest.ini").is_file():  # which counts where it is empty, too
        return root
    found = next(filter(has_pytest_options, list_folders_of_repository(root)), root)
    return root if may_hold_secrets(str(found)) else found


def has_pytest_options(root: Path) -> bool:
    """Whether a file in the root of a project sets an option of pytest."""
    files = (file for name in _CONFIG_FILES if (file := root / name).is_file())
    return any(_OPTION.search(file.read_text("utf-8", "replace")) for file in files)


def find_working_root(named: Path) -> Path:
    """Return the folder that was named; without one, that of the project around the working folder."""
    found = None if named.parts else find_project_root(named)
    return found if found and found != Path.cwd() else named


def find_environment(
    root: Path, python: str | None, notify: Callable[[str], None]
) -> Environment | None:
    """Return the environment of a project; None where greenloop's own Python runs its tests.

    `python` is what the user has named. Why another candidate cannot be used is told to `notify`.

    Raises:
        InputError: the one that was named cannot be used.
    """
    if may_hold_secrets(str(root)):  # its files would be copied
        notify(f"{root} may hold secrets, so no environment is used: name the project's own folder")
        return None
    if python:
        is_of_project = read_project_table().get("python") == python  # and not the user's word
        file = find_project_file(Path()) if is_of_project else None
        folder = file.parent if file else Path()
        named = read_environment(str(folder / Path(python).expanduser()), "--python")
        why = named.explain_unusable() or (is_of_project and _explain_tracked(root, named.prefix))
        if why:
            raise InputError(f"--python: {why}")
        return named
    found = _find_own(root, notify)
    return found or _find_usable(root, _list_activated(of_greenloop=True), notify)


def _find_own(root: Path, notify: Callable[[str], None]) -> Environment | None:
    """Return the environment of a project, or the one that was made for it."""
    return _find_usable(root, _list_candidates(root), notify) or find_made_environment(root)


def _find_usable(
    root: Path, candidates: Iterable[tuple[str, str]], notify: Callable[[str], None]
) -> Environment | None:
    """Return the first environment that can be used; why others cannot is told to `notify`."""
    for path, origin in candidates:
        try:
            found = read_environment(path, origin)
            why = found.explain_unusable() or _explain_tracked(root, found.prefix)
        except InputError as error:
            why = str(error)
        if not why:
            return found
        notify(f"not used: {why}")
    return None


def install_declared_packages(path: Path, notify: Callable[[str], None]) -> None:
    """Make an environment for the project of a file or folder, unless it has one.

    That of greenloop is one only if the project is installed there.

    Raises:
        InputError: the path belongs to no project.
        PackagesError: the packages cannot be installed.
    """
    root = find_project_root(path)
    if root is None:
        raise InputError(f"--install: {path} belongs to no project that declares packages")
    if not _find_own(root.resolve(), lambda line: None):
        make_environment(root.resolve(), notify)


def _list_candidates(root: Path) -> Iterator[tuple[str, str]]:
    """Yield paths of environments that are there, and what they were found by, the best first."""
    yield from _list_activated(of_greenloop=False)
    for folder in list_folders_of_repository(root):
        for name in ENVIRONMENT_NAMES:
            if os.path.exists(folder / name / "bin" / "python"):
                yield str(folder / name), name
    for path, origin in _list_interpreters():
        if _holds_project(path, root):
            yield path, origin


def _list_activated(*, of_greenloop: bool) -> Iterator[tuple[str, str]]:
    """Yield activated environments: the one of greenloop, which may be activated for the command alone, or others."""
    for name in _VARIABLES:
        path = os.environ.get(name, "")
        is_own = os.path.realpath(path) == os.path.realpath(sys.prefix)
        if path and is_own == of_greenloop and os.path.exists(f"{path}/bin/python"):
            yield path, name


def list_folders_of_repository(root: Path) -> list[Path]:
    """Return the folders from the project up to its repository; it alone where there is none."""
    folders = [root, *root.parents]
    tops = (number for number, folder in enumerate(folders) if (folder / ".git").exists())
    return folders[: next(tops, 0) + 1]


def _list_interpreters() -> Iterator[tuple[str, str]]:
    """Yield the interpreter of greenloop, and the ones that `python` and `python3` start, each once."""
    found = {os.path.dirname(sys.executable): (sys.executable, "that of greenloop")}
    for name in ("python", "python3"):
        if path := shutil.which(name):
            found.setdefault(os.path.dirname(path), (path, f"{name} on the PATH"))
    yield from found.values()


def _holds_project(python: str, root: Path) -> bool:
    """Whether a project is installed for an interpreter, with or without -e."""
    try:
        found = read_environment(python, "")
    except InputError:
        return False
    if found.prefix.startswith(f"{root}/"):
        return True
    named = (*list_named_folders(found), *list_source_folders(found))
    return any(f"{path}/".startswith(f"{root}/") for path in named)


def _explain_tracked(root: Path, prefix: str) -> str:
    """Return why an environment that came with a repository is not used."""
    top = list_folders_of_repository(root)[-1]
    if not prefix.startswith(f"{top}/") or not (top / ".git").exists():
        return ""
    try:
        tracked = run_git(root, "ls-files", "-z", "--", prefix)
    except OutputError:
        return ""
    return f"{prefix} is in the repository: --python {prefix} uses it" if tracked else ""
