"""Manifest of an installed folder: its wheels and their modules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.records.base import Record

_PYTEST_PLUGIN_GROUP = "pytest11"


class Wheel(Record):
    """An installed package; `sha256` is the digest of its wheel."""

    name: str
    version: str
    sha256: str


class Manifest(Record):
    """`modules` are those of the requested packages."""

    wheels: tuple[Wheel, ...]
    modules: tuple[str, ...]


def build_manifest(site: Path, report: Path, requested: frozenset[str]) -> Manifest:
    """Return the manifest of a folder that pip has installed into, from pip's report."""
    found = json.loads(report.read_text("utf-8"))["install"]
    wheels = [
        Wheel(
            name=canonicalize_name(item["metadata"]["name"]),
            version=item["metadata"]["version"],
            sha256=item["download_info"]
            .get("archive_info", {})
            .get("hashes", {})
            .get("sha256", ""),
        )
        for item in found
    ]
    modules = sorted(set(_find_modules(site, requested)))
    return Manifest(
        wheels=tuple(sorted(wheels, key=lambda item: item.name)), modules=tuple(modules)
    )


def _find_modules(site: Path, requested: frozenset[str]) -> Iterator[str]:
    """Yield public top-level modules; pytest plugins are left out, as pytest loads them."""
    for info in site.glob("*.dist-info"):
        package = PathDistribution(info)
        if canonicalize_name(package.metadata["Name"]) not in requested:
            continue
        if any(item.group == _PYTEST_PLUGIN_GROUP for item in package.entry_points):
            continue
        for file in package.files or ():
            name = file.parts[0].partition(".")[0]
            module = len(file.parts) == 1 and file.suffix in (".py", ".so")
            regular = module or file.parts == (name, "__init__.py")
            if regular and name.isidentifier() and not name.startswith("_"):
                yield name
