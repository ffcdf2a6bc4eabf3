"""Selection of the environment that runs the tests of a project."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from greenloop.configuration import find_project_file, read_project_table
from greenloop.dependencies.names import parse_package_name
from greenloop.errors import InputError, OutputError
from greenloop.project.environment.folders import (
    list_named_folders,
    list_source_folders,
    may_hold_secrets,
)
from greenloop.project.environment.interpreter import Environment, read_environment
from greenloop.project.environment.making import (
    find_made_environment,
    list_wanted,
    make_environment,
)
from greenloop.project.git import run_git

ENVIRONMENT_NAMES = (".venv", "venv")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")
_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_CONFIG_FILES = (
    "pytest.toml .pytest.toml pytest.ini .pytest.ini pyproject.toml tox.ini setup.cfg".split()
)
_OPTION = re.compile(r"(?m)^\[(tool[.:])?pytest[^]\n]*\]\s*^[^\[\s]")


def find_project_root(path: Path) -> Path | None:
    """Return the folder of the project that a file or folder belongs to, or None.

    It is the nearest folder with a project's configuration file or a `.git` entry. The home folder,
    its parents and folders that may hold secrets are never a project.
    """
    start = path.absolute()
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    for folder in folders:
        if may_hold_secrets(str(folder)):
            return None
        has_file = any((folder / name).is_file() for name in _PROJECT_FILES)
        if has_file or (folder / ".git").exists():
            return folder
    return None


def find_pytest_root(root: Path) -> Path:
    """Return the nearest folder with pytest options up to the repository's root, or else `root`."""
    if (root / "pytest.ini").is_file():  # pytest uses even an empty one
        return root
    found = next(filter(has_pytest_options, list_folders_of_repository(root)), root)
    return root if may_hold_secrets(str(found)) else found


def has_pytest_options(root: Path) -> bool:
    """Return whether a file in the root of a project sets a pytest option."""
    files = (file for name in _CONFIG_FILES if (file := root / name).is_file())
    return any(_OPTION.search(file.read_text("utf-8", "replace")) for file in files)


def find_working_root(named: Path) -> Path:
    """Return `named`, or if it is empty the project root around the working folder."""
    found = None if named.parts else find_project_root(named)
    return found if found and found != Path.cwd() else named


def find_environment(
    root: Path, python: str | None, notify: Callable[[str], None]
) -> Environment | None:
    """Return the environment of a project, or None if greenloop's own Python runs its tests.

    `python` is the user's choice. `notify` gets a line about each candidate that is not usable.

    Raises:
        InputError: the environment `python` cannot be used.
    """
    if may_hold_secrets(str(root)):  # with an environment, all files of the project are copied
        notify(f"{root} may hold secrets, so no environment is used: name the project's own folder")
        return None
    if python:
        is_of_project = read_project_table().get("python") == python  # not the user's option
        file = find_project_file(Path()) if is_of_project else None
        folder = file.parent if file else Path()
        named = read_environment(str(folder / Path(python).expanduser()), "--python")
        why = named.explain_unusable() or (is_of_project and _explain_tracked(root, named.prefix))
        if why:
            raise InputError(f"--python: {why}")
        return named
    return _find_own(root, notify) or _find_greenloop(root, notify)


def _find_own(root: Path, notify: Callable[[str], None]) -> Environment | None:
    """Return the environment that belongs to a project, or that greenloop made for it."""
    return _find_usable(root, _list_candidates(root), notify) or find_made_environment(root)


def _find_greenloop(root: Path, notify: Callable[[str], None]) -> Environment | None:
    """Return greenloop's own activated environment if it may be meant for the project.

    It is not if it lacks most packages that the project declares, or a plug-in of pytest.
    """
    found = _find_usable(root, _list_activated(of_greenloop=True), notify)
    if found is None:
        return None
    wanted = {parse_package_name(item) for item in list_wanted(root)}
    missing = found.list_missing(sorted(wanted))
    if 2 * len(missing) <= len(wanted) and not any(name.startswith("pytest") for name in missing):
        return found
    notify(f"{sys.prefix} is not used: it lacks {', '.join(missing)}")
    return None


def _find_usable(
    root: Path, candidates: Iterable[tuple[str, str]], notify: Callable[[str], None]
) -> Environment | None:
    """Return the first usable environment; `notify` gets the reasons against earlier ones."""
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

    Greenloop's own environment counts only if the project is installed in it.

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
    """Yield existing environments of a project as (path, origin), the best first."""
    activated = [*_list_activated(of_greenloop=False)]
    # each shell of Anaconda has its base environment activated
    is_base = os.environ.get("CONDA_DEFAULT_ENV") in ("base", "root")
    last = [item for item in activated if is_base and item[1] == "CONDA_PREFIX"]
    yield from (item for item in activated if item not in last)
    for folder in list_folders_of_repository(root):
        for name in ENVIRONMENT_NAMES:
            if os.path.exists(folder / name / "bin" / "python"):
                yield str(folder / name), name
    yield from last
    for path, origin in _list_interpreters():
        if _holds_project(path, root):
            yield path, origin


def _list_activated(*, of_greenloop: bool) -> Iterator[tuple[str, str]]:
    """Yield activated environments: only greenloop's own, or only others.

    Greenloop's own may be activated just to have the command, so it is the last candidate.
    """
    for name in _VARIABLES:
        path = os.environ.get(name, "")
        is_own = os.path.realpath(path) == os.path.realpath(sys.prefix)
        if path and is_own == of_greenloop and os.path.exists(f"{path}/bin/python"):
            yield path, name


def list_folders_of_repository(root: Path) -> list[Path]:
    """Return the folders from the project up to its repository's root, or only the project."""
    folders = [root, *root.parents]
    tops = (number for number, folder in enumerate(folders) if (folder / ".git").exists())
    return folders[: next(tops, 0) + 1]


def describe_packages(root: Path) -> str:
    """Return the times at which packages were last added to the environments near a project."""
    near = (i / name for i in list_folders_of_repository(root) for name in ENVIRONMENT_NAMES)
    activated = (Path(os.environ[name]) for name in _VARIABLES if os.environ.get(name))
    folders = dict.fromkeys((*near, *activated, Path(sys.prefix)))
    found = [place for i in folders for place in sorted(i.glob("lib/python*/site-packages"))]
    return "\n".join(f"{place} {place.stat().st_mtime_ns}" for place in found)


def _list_interpreters() -> Iterator[tuple[str, str]]:
    """Yield greenloop's interpreter, and `python` and `python3` of the PATH, without duplicates."""
    found = {os.path.dirname(sys.executable): (sys.executable, "that of greenloop")}
    for name in ("python", "python3"):
        if path := shutil.which(name):
            found.setdefault(os.path.dirname(path), (path, f"{name} on the PATH"))
    yield from found.values()


def _holds_project(python: str, root: Path) -> bool:
    """Return whether a project is installed for an interpreter, with or without -e."""
    try:
        found = read_environment(python, "")
    except InputError:
        return False
    if found.prefix.startswith(f"{root}/"):
        return True
    named = (*list_named_folders(found), *list_source_folders(found))
    return any(f"{path}/".startswith(f"{root}/") for path in named)


def _explain_tracked(root: Path, prefix: str) -> str:
    """Return why an environment that git tracks is not used, or '' for any other one."""
    top = list_folders_of_repository(root)[-1]
    if not prefix.startswith(f"{top}/") or not (top / ".git").exists():
        return ""
    try:
        tracked = run_git(root, "ls-files", "-z", "--", prefix)
    except OutputError:
        return ""
    return f"{prefix} is in the repository: --python {prefix} uses it" if tracked else ""
