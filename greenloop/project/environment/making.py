"""The environment that greenloop makes for a project without one: of what the project declares."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from greenloop.dependencies import PackageStore
from greenloop.dependencies.names import parse_package_name
from greenloop.errors import PackagesError
from greenloop.project.declared import list_requirements
from greenloop.project.environment.folders import SOURCE_FOLDERS
from greenloop.project.environment.interpreter import Environment, read_environment

MADE = "made by greenloop"
_PYTEST = "pytest>=7.4"


def find_made_environment(root: Path) -> Environment | None:
    """Return the environment that was made for a project, None where there is none."""
    wanted = list_wanted(root)
    installed = PackageStore(is_pinned=False).find(wanted) if wanted else None
    if installed is None:
        return None
    found = read_environment(str(Path(installed.folder).parents[2]), MADE)
    if found.explain_unusable():
        return None
    names = [root / name for name in SOURCE_FOLDERS if (root / name).is_dir()]
    return replace(found, sources=tuple(map(str, (*names, root))))


def list_wanted(root: Path) -> tuple[str, ...]:
    """Return what would be installed for a project; nothing where it declares no package."""
    declared = list_requirements(root)
    names = {parse_package_name(item) for item in declared}
    if not names - {"pytest"}:
        return ()
    return declared if "pytest" in names else (*declared, _PYTEST)


def make_environment(root: Path, notify: Callable[[str], None]) -> None:
    """Install what a project declares as wheels, of which nothing is executed, into an environment.

    What has no wheel is left out, and told to `notify`. Nothing is done where there is nothing to
    install, or all is there.

    Raises:
        PackagesError: the packages cannot be installed.
    """
    wanted, store = list_wanted(root), PackageStore(is_pinned=False)
    if not wanted or store.find(wanted):
        return
    rest = wanted
    notify(f"installing what {root.name} declares: {', '.join(map(parse_package_name, wanted))}")
    while rest:
        try:
            store.install(rest)
            break
        except PackagesError as error:
            name = parse_package_name(error.absent)
            absent = [item for item in rest if parse_package_name(item) == name]
            if not absent:
                raise
            notify(f"left out: {name}, of which there is no wheel")
            rest = tuple(item for item in rest if item not in absent)
    if rest != wanted:
        store.link(wanted, rest)
