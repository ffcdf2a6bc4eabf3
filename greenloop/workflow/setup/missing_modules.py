"""Modules that a test run did not find, and the installation of packages."""

from __future__ import annotations

import re
from collections.abc import Collection

from greenloop.dependencies import InstalledPackages, PackageResolver
from greenloop.dependencies.names import get_package_name, is_standard_library
from greenloop.events import EventSink, PackageInstallStarted, PackagesReady
from greenloop.records import Failure

_MISSING_MODULE = re.compile(r"No module named '([^'.]+)")


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
    found = _MISSING_MODULE.search(failure.message)
    if failure.exception != "ModuleNotFoundError" or found is None or is_standard_library(found[1]):
        return ""
    return found[1]


def describe_missing_module(module: str, importer: str) -> str:
    """Return a line that names the module, and the flag that would allow its package."""
    allow = f"add --allow-package {get_package_name(module)}"
    return f"{allow}: {importer} {module}, which is not available"
