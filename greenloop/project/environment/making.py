"""Environments that greenloop makes from a project's declared requirements."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet

from greenloop.dependencies import PackageStore
from greenloop.dependencies.locked import read_locked
from greenloop.dependencies.names import parse_package_name
from greenloop.errors import PackagesError
from greenloop.project.declared import list_requirements
from greenloop.project.environment.folders import SOURCE_FOLDERS
from greenloop.project.environment.interpreter import Environment, read_environment

MADE = "made by greenloop"
_PYTEST = "pytest>=7.4"


def find_made_environment(root: Path) -> Environment | None:
    """Return the environment that greenloop made for a project, or None."""
    wanted = list_wanted(root)
    installed = PackageStore(constraints=_list_locked(root)).find(wanted) if wanted else None
    if installed is None:
        return None
    found = read_environment(str(Path(installed.folder).parents[2]), MADE)
    if found.explain_unusable():
        return None
    names = [root / name for name in SOURCE_FOLDERS if (root / name).is_dir()]
    return replace(found, sources=tuple(map(str, (*names, root))))


def list_wanted(root: Path) -> tuple[str, ...]:
    """Return the requirements to install for a project, none if it declares no package."""
    declared = list_requirements(root)
    names = {parse_package_name(item) for item in declared}
    if not names - {"pytest"}:
        return ()
    return declared if "pytest" in names else (*declared, _PYTEST)


def _list_locked(root: Path) -> tuple[str, ...]:
    """Return the project's locked versions, without a pytest that is too old for greenloop."""
    pytest = SpecifierSet(_PYTEST.removeprefix("pytest"))
    locked = [item.split("==") for item in read_locked(root)]
    return tuple(f"{name}=={at}" for name, at in locked if name != "pytest" or at in pytest)


def make_environment(root: Path, notify: Callable[[str], None]) -> None:
    """Install a project's declared packages into an environment, as wheels, without running code.

    The versions are those of the project's lock file. A package without a wheel of that version is
    installed in another version, or left out if it has no wheel at all; `notify` gets both facts.
    Nothing happens if there is nothing to install, or everything is installed.

    Raises:
        PackagesError: the packages cannot be installed.
    """
    wanted, locked = list_wanted(root), _list_locked(root)
    store = PackageStore(constraints=locked)
    if not wanted or store.find(wanted):
        return
    notify(f"installing what {root.name} declares: {', '.join(map(parse_package_name, wanted))}")
    rest, constraints = wanted, locked
    while rest:
        try:
            installed = PackageStore(constraints=constraints).install(rest)
        except PackagesError as error:
            rest, constraints = _relax(rest, constraints, error, notify)
            continue
        made = read_environment(str(Path(installed.folder).parents[2]), MADE)
        if (why := made.explain_unusable()) and _PYTEST not in rest:
            notify(why)
            rest = (*_leave_out("pytest", rest), _PYTEST)
            continue
        if (rest, constraints) != (wanted, locked):
            store.link(wanted, installed)
        return
    notify("nothing was installed: no declared package has a wheel")


def _relax(
    rest: tuple[str, ...],
    locked: tuple[str, ...],
    error: PackagesError,
    notify: Callable[[str], None],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements and locked versions for the next attempt after an error.

    First the failing package loses its lock, then it is left out, then all locks are dropped.
    Raises the error if none of these applies.
    """
    name = parse_package_name(error.absent)
    freed, others = _leave_out(name, locked), _leave_out(name, rest)
    if freed != locked:
        notify(f"not in the locked version: {name}")
        return rest, freed
    if others != rest:
        notify(f"left out: {name}, which has no wheel")
        return others, locked
    if not locked:
        raise error
    notify(f"not in the locked versions: {error}")
    return rest, ()


def _leave_out(name: str, requirements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item for item in requirements if parse_package_name(item) != name)
