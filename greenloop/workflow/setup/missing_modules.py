"""Why tests could not run: modules that are missing, and a suite that does not fit."""

import platform
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from greenloop.dependencies import InstalledPackages, PackageResolver
from greenloop.dependencies.names import get_package_name, is_standard_library
from greenloop.events import EventSink, PackageInstallStarted, PackagesReady
from greenloop.project.tree import ProjectTree
from greenloop.records import Failure

ONE_MODULE = (
    "a check takes one module alone; `greenloop check --diff REF` grades the lines of a project that "
    "have changed"
)
MISSING_MODULE = re.compile(r"No module named '([^'.]+)")


async def install_with_events(
    resolver: PackageResolver, names: Collection[str], emit: EventSink
) -> InstalledPackages:
    """Return the packages, from the cache or newly installed. Raises PackagesError."""
    found = await resolver.find_installed(names)
    is_cached = found is not None
    if found is None:
        emit(PackageInstallStarted(tuple(sorted(names))))
        found = await resolver.install(names)
    emit(PackagesReady(found.summary(), is_cached))
    return found


def find_missing_module(failure: Failure) -> str:
    """Return the top-level module that an import did not find, '' for any other failure."""
    found = MISSING_MODULE.search(failure.message)
    if failure.exception != "ModuleNotFoundError" or found is None or is_standard_library(found[1]):
        return ""
    return found[1]


def describe_missing_module(module: str, importer: str) -> str:
    """Return a line that names the module, and the flag that would allow its package."""
    return describe_missing_modules([module], importer)


def describe_missing_modules(
    modules: Sequence[str],
    importer: str,
    tree: ProjectTree | None = None,
    unavailable: Collection[str] = (),
) -> str:
    """Return the same for several modules; options as those of `suggest_packages`."""
    verb = "is" if len(modules) == 1 else "are"
    missing = f"{importer} {', '.join(modules)}, which {verb} not available"
    allow = suggest_packages(modules, tree, unavailable)
    return f"add {allow}: {missing}" if allow else missing


def suggest_packages(
    modules: Sequence[str], tree: ProjectTree | None, unavailable: Collection[str] = ()
) -> str:
    """Return the options that allow the packages of modules, without those that are `unavailable`.

    Of a project these are only packages that its metadata names, all at once. Any index may have a
    package of a name that a project's metadata do not know, by anybody.
    """
    names = dict.fromkeys(i for i in map(get_package_name, modules) if i not in unavailable)
    if tree is not None:
        is_declared = any(name in tree.declared_names for name in names)
        return "--install, for what the project declares" if is_declared else ""
    return " ".join(f"--allow-package {name}" for name in names)


def explain_missing_modules(failures: Sequence[Failure], code: Path | None) -> Iterator[str]:
    """Yield a line for each module that the tests of a file did not find.

    One of the project itself is no package: to install what an index has by its name would be wrong.
    """
    for module in dict.fromkeys(map(find_missing_module, failures)):
        own = find_project_module(module, code) if module and code else None
        if own:
            yield f"the code or a test imports {module}, which is {own} of this project: {ONE_MODULE}"
        elif module:
            yield describe_missing_module(module, "the code or a test imports")
    if any("attempted relative import" in item.message for item in failures):
        yield f"the code or a test imports from its own package: {ONE_MODULE}"


def find_project_module(module: str, code: Path) -> str:
    """Return the name of a module's file or folder in the project of a file, '' without one."""
    folder = root = code.absolute().parent
    while (root / "__init__.py").is_file():
        root = root.parent
    folders = (folder, root, Path.cwd(), Path.cwd() / "src")
    names = (f"{module}.py", f"{module}/")
    return next((name for place in folders for name in names if (place / name).exists()), "")


_REQUIRED_PYTHON = re.compile(r"""(?m)^\s*(?:requires-python|python_requires)\s*=\s*([^#\n]+)""")


def explain_suite_problem(
    problem: str, tree: ProjectTree, unavailable: Collection[str] = ()
) -> str:
    """Return the problem of a baseline with its remedy, as far as one is known."""
    found = MISSING_MODULE.search(problem)
    is_package = found and found[1] not in tree.module_names and not is_standard_library(found[1])
    allow = suggest_packages([found[1]], tree, unavailable) if found and is_package else ""
    allow = f"add {allow}" if allow else ""
    told = f"the project's tests cannot be run here: {problem}"
    return "; ".join(filter(None, (told, allow, explain_python_version(tree))))


def explain_python_version(tree: ProjectTree) -> str:
    """Return that the project does not support this Python; '' where it does or does not say."""
    required = _REQUIRED_PYTHON.search(tree.metadata)
    text = required[1].strip(" \t\r,\"'") if required else ""
    try:
        is_supported = SpecifierSet(text).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return ""
    if is_supported:
        return ""
    return (
        f"the project requires Python {text}, and its tests run in {describe_python()}: "
        "install greenloop with a Python that the project supports"
    )


def describe_python() -> str:
    """Return the version of Python that tests run in, as `Python 3.12`."""
    return f"Python {'.'.join(platform.python_version_tuple()[:2])}"
