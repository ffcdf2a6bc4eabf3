"""Versions of installed distributions, and where they were installed from."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution, version

SMALL = "greenloop-check"  # the distribution for the commands that call no model


def get_installed_version(name: str) -> str | None:
    """Return a distribution's version, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def greenloop_version() -> str:
    """Return the version of greenloop, or of its distribution without models."""
    return get_installed_version("greenloop") or get_installed_version(SMALL) or "not installed"


def is_from_index(package: str) -> bool:
    """Whether a package was installed by its name, not from a folder or a repository (PEP 610)."""
    try:
        return distribution(package).read_text("direct_url.json") is None
    except PackageNotFoundError:
        return False
