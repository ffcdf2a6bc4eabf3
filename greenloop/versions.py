"""Versions of installed packages."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version

SMALL = "greenloop-check"  # the distribution for the commands that call no model


def greenloop_version() -> str:
    """Return the version of greenloop, or of its distribution without models."""
    return get_installed_version("greenloop") or get_installed_version(SMALL) or "not installed"


@lru_cache(maxsize=64)  # a lookup reads the metadata of all packages
def get_installed_version(package: str) -> str | None:
    """Return a package's version, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def is_from_index(package: str) -> bool:
    """Whether a package was installed by its name, not from a folder or a repository (PEP 610)."""
    try:
        return distribution(package).read_text("direct_url.json") is None
    except PackageNotFoundError:
        return False
