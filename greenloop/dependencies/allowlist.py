"""Allowlist of packages for generated code: well-known ones, or those that the user names."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from greenloop.dependencies.names import (
    PREINSTALLED,
    find_imported_modules,
    format_with_import,
    get_import_names,
    parse_package_name,
)
from greenloop.dependencies.store import InstalledPackages, PackageStore

# Widely used, distributed as wheels, useful offline, without threads or processes at import.
DEFAULT_PACKAGES = (
    "anyio attrs beautifulsoup4 cattrs defusedxml hypothesis jinja2 jsonschema lxml markdown "
    "markdown-it-py more-itertools msgpack networkx numpy openpyxl orjson packaging pandas pillow "
    "pydantic pygments pytest-asyncio python-dateutil pyyaml rapidfuzz regex rich scipy "
    "sortedcontainers sympy tabulate tomli-w toolz typing-extensions tzdata"
).split()
NO_PACKAGES = "none"
_LIST_COMMA = re.compile(r",(?!\s*[<>=!~])")  # not the comma within `numpy>=2,<3`


@dataclass(frozen=True)
class PackageAllowlist:
    """One requirement (`numpy`, `numpy==2.1.*`) per package, sorted by name."""

    requirements: tuple[str, ...] = ()

    @classmethod
    def parse(cls, base: str | None, additional: str = "") -> "PackageAllowlist":
        """Parse comma-separated requirements (`base` None: the built-in list, `none`: no packages).

        Later entries replace earlier ones: `additional` can pin a package of `base`.

        Raises:
            ValueError: an entry is not a package name with an optional version.
        """
        first = DEFAULT_PACKAGES if base is None else _split_entries(base)
        by_name = dict(_parse_entry(item) for item in (*first, *_split_entries(additional)))
        return cls(tuple(by_name[name] for name in sorted(by_name)))

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {parse_package_name(item): item for item in self.requirements}

    @cached_property
    def _by_import(self) -> dict[str, str]:
        names = self._by_name
        return {module.lower(): name for name in names for module in get_import_names(name)}

    @property
    def names(self) -> Collection[str]:
        """The names of the packages."""
        return self._by_name.keys()

    @property
    def import_names(self) -> frozenset[str]:
        """The import names of the packages."""
        return frozenset(module for name in self._by_name for module in get_import_names(name))

    @property
    def descriptions(self) -> tuple[str, ...]:
        """Each package with its version, if pinned, and its import name where that differs."""
        return tuple(format_with_import(item) for item in self.requirements)

    def find(self, text: str) -> str | None:
        """Return the allowed package for `NumPy`, `numpy>=2` or `yaml`; None where not allowed."""
        name = parse_package_name(text)
        if name in self._by_name:
            return name
        return next((n for m, n in self._by_import.items() if canonicalize_name(m) == name), None)

    def find_imported(self, modules: Iterable[str]) -> frozenset[str]:
        """Return the allowed packages that provide these modules."""
        found = (self._by_import.get(item.lower()) for item in modules)  # `import IPython`
        return frozenset(name for name in found if name)

    def requirements_for(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the requirements of allowed packages, sorted."""
        return tuple(sorted(self._by_name[name] for name in set(names)))


def _split_entries(text: str) -> list[str]:
    found = [item.strip() for item in _LIST_COMMA.split(text)]
    return [item for item in found if item and item.lower() != NO_PACKAGES]


def _parse_entry(text: str) -> tuple[str, str]:
    """Return a package's name and its requirement, both normalized."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f"{text!r} is not a package name with an optional version") from None
    if wanted.url or wanted.marker:
        raise ValueError(f"{text!r}: give a name and an optional version, without URL or marker")
    name = canonicalize_name(wanted.name)
    if name in PREINSTALLED:
        raise ValueError(f"{text!r} is always installed: leave it out")
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return name, f"{name}{extras}{wanted.specifier}"


@dataclass(frozen=True)
class PackageResolver:
    """Installer of allowed packages only, by the names that `PackageAllowlist.find` returns."""

    allowlist: PackageAllowlist = field(default_factory=PackageAllowlist)
    store: PackageStore = field(default_factory=PackageStore)

    def find_imported(
        self, sources: Iterable[str], own_modules: Iterable[str] = ()
    ) -> frozenset[str]:
        """Return the allowed packages that sources import; `own_modules` are left out."""
        modules = {item for source in sources for item in find_imported_modules(source)}
        return self.allowlist.find_imported(modules - set(own_modules))

    async def find_installed(self, names: Iterable[str]) -> InstalledPackages | None:
        """Return the packages if they are in the cache."""
        return await asyncio.to_thread(self.store.find, self.allowlist.requirements_for(names))

    async def install(self, names: Iterable[str]) -> InstalledPackages:
        """Return the packages, installed if needed; a cancelled installation leaves nothing.

        Raises:
            PackagesError: they cannot be installed.
        """
        stop = threading.Event()
        wanted = self.allowlist.requirements_for(names)
        task = asyncio.ensure_future(asyncio.to_thread(self.store.install, wanted, stop))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stop.set()
            with contextlib.suppress(Exception):
                await task
            raise
