"""Why the tests of a project cannot be run here, with what would help."""

from __future__ import annotations

import platform
import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from greenloop.dependencies.names import get_package_name, is_standard_library
from greenloop.project.tree import ProjectTree
from greenloop.workflow.setup.missing_modules import MISSING_MODULE

_REQUIRED_PYTHON = re.compile(r"""(?m)^\s*(?:requires-python|python_requires)\s*=\s*([^#\n]+)""")


def explain_suite_problem(problem: str, tree: ProjectTree) -> str:
    """Return the problem of a baseline with its remedy, as far as one is known."""
    found = MISSING_MODULE.search(problem)
    is_package = found and found[1] not in tree.module_names and not is_standard_library(found[1])
    allow = f"add --allow-package {get_package_name(found[1])}" if found and is_package else ""
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
