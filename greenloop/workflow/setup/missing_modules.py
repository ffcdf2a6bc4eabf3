"""Explanations of tests that cannot run: missing modules, submodules, Python versions."""

import platform
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from greenloop.dependencies.names import get_package_name, is_standard_library
from greenloop.files import read_or_empty
from greenloop.project.environment.discovery import find_project_root
from greenloop.project.tree import ProjectTree
from greenloop.records import Failure
from greenloop.sandbox.limits import TOO_LATE
from greenloop.syntax.parse import describe_python

ONE_MODULE = (
    "a check takes one module alone; `greenloop check --diff REF` grades the lines of a project that "
    "have changed"
)
_LACKS_PLUGIN = (
    "install the plug-in that has this hook, or name the folders of tests in pytest's `testpaths`"
)
_REQUIRED_PYTHON = re.compile(r"""(?m)^\s*(?:requires-python|python_requires)\s*=\s*([^#\n]+)""")
_SUBMODULE = re.compile(r"(?m)^\s*path\s*=\s*(\S.*?)\s*$")
_METADATA_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
MISSING_MODULE = re.compile(r"No module named '([^'.]+)")


def find_missing_module(failure: Failure) -> str:
    """Return the top-level module that an import did not find, '' for any other failure."""
    found = MISSING_MODULE.search(failure.message)
    if failure.exception != "ModuleNotFoundError" or found is None or is_standard_library(found[1]):
        return ""
    return found[1]


def describe_missing_module(module: str, importer: str, own: Collection[str] = ()) -> str:
    """Return a line that names the module, and the option that would allow its package.

    In a project, which has modules of its `own`, the option is --install: a test may create the
    module, and anybody can publish a package of its name.
    """
    told = f"{importer} {module}, which is not available"
    if own:
        return f"{told}: install what the project needs in its environment, or add --install"
    return f"add --allow-package {get_package_name(module)}: {told}"


def explain_missing_modules(
    failures: Sequence[Failure], code: Path | None, own: Collection[str] = ()
) -> Iterator[str]:
    """Yield a line for each module that tests did not find, and one for absent submodules."""
    for module in dict.fromkeys(map(find_missing_module, failures)):
        file = find_project_module(module, code) if module and code else ""
        if file:
            yield f"the code or a test imports {module}, which is {file} of this project: {ONE_MODULE}"
        elif module:
            yield describe_missing_module(module, "the code or a test imports", own)
    if any("attempted relative import" in item.message for item in failures):
        yield f"the code or a test imports from its own package: {ONE_MODULE}"
    root = find_project_root(code) if code else None
    if root and (line := explain_absent_submodules(root)):
        yield line


def find_project_module(module: str, code: Path) -> str:
    """Return the name of a module's file or folder in the project of a file, '' without one."""
    folder = root = code.absolute().parent
    while (root / "__init__.py").is_file():
        root = root.parent
    folders = (folder, root, Path.cwd(), Path.cwd() / "src")
    names = (f"{module}.py", f"{module}/")
    return next((name for place in folders for name in names if (place / name).exists()), "")


def explain_suite_problem(
    problem: str, tree: ProjectTree, unavailable: Collection[str] = ()
) -> str:
    """Return the problem of a baseline with its remedy, as far as one is known."""
    found = MISSING_MODULE.search(problem)
    name = get_package_name(found[1]) if found else ""
    is_declared = name in tree.declared_names and name not in unavailable
    lacks_plugin = "unknown hook" in problem
    can_install = is_declared or (lacks_plugin and bool(tree.declared_names))
    remedies = (
        _LACKS_PLUGIN if lacks_plugin else "",
        "--install installs what the project declares" if can_install else "",
        "--timeout SECONDS lets them run longer" if TOO_LATE in problem else "",
        explain_absent_submodules(Path(tree.root)),
        explain_python_version(tree),
    )
    return "; ".join(
        filter(None, (f"the project's tests cannot be run here: {problem}", *remedies))
    )


def explain_absent_submodules(root: Path) -> str:
    """Return a text that names the git submodules not checked out; '' if there are none."""
    paths = _SUBMODULE.findall(read_or_empty(root / ".gitmodules"))
    absent = [path for path in paths if not any((root / path).glob("*"))]
    if not absent:
        return ""
    return f"submodules that are not there: {', '.join(absent)} (git submodule update --init)"


def explain_python_version(tree: ProjectTree) -> str:
    """Return a text if the project excludes this version of Python, else ''."""
    files = (Path(tree.root, tree.scope, name) for name in _METADATA_FILES)
    required = _REQUIRED_PYTHON.search("\n".join(map(read_or_empty, files)))
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
