"""Installed distributions, by the names of the folders with their metadata.

Each command asks for some versions. To import `importlib.metadata` takes longer than to read what is
asked for.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache

_OF_WHEELS, _OF_OTHERS = ".dist-info", ".egg-info"


def normalize_name(name: str) -> str:
    """Return a distribution's name as normalized by PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def list_metadata_folders() -> dict[str, str]:
    """Return the metadata folder of each distribution that was installed as a wheel, by its name.

    The names are normalized; of two distributions with one name the first on `sys.path` counts.
    """
    found: dict[str, str] = {}
    for path in _iter_metadata_folders(_OF_WHEELS):
        found.setdefault(normalize_name(os.path.basename(path).partition("-")[0]), path)
    return found


@lru_cache(maxsize=64)  # each run of a batch asks for the same
def get_installed_version(name: str) -> str | None:
    """Return a distribution's version, None where it is not installed."""
    if folder := list_metadata_folders().get(normalize_name(name)):
        return os.path.basename(folder).removesuffix(_OF_WHEELS).partition("-")[2]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def registers_entry_points(group: str) -> bool:
    """Return whether a distribution may register entry points in a group."""
    return any(group.encode() in text for text in _read_entry_points())


def _read_entry_points() -> Iterator[bytes]:
    for folder in _iter_metadata_folders(_OF_WHEELS, _OF_OTHERS):
        try:
            with open(f"{folder}/entry_points.txt", "rb") as file:
                yield file.read()
        except OSError:
            continue


def _iter_metadata_folders(*suffixes: str) -> Iterator[str]:
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names if name.endswith(suffixes))
