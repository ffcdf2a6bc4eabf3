"""Which packages generated code may use: well-known ones, or those that the person names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from packaging.requirements import InvalidRequirement, Requirement

from greenloop.dependencies.names import (
    PREINSTALLED,
    format_with_import,
    get_import_names,
    normalize_name,
    parse_package_name,
)

# Widely used, distributed as wheels, of use without a network, no thread or process at import.
DEFAULT_PACKAGES = (
    "anyio attrs beautifulsoup4 cattrs defusedxml hypothesis jinja2 jsonschema lxml markdown "
    "markdown-it-py more-itertools msgpack networkx numpy openpyxl orjson packaging pandas pillow "
    "pydantic pygments pytest-asyncio python-dateutil pyyaml rapidfuzz regex rich scipy "
    "sortedcontainers sympy tabulate tomli-w toolz typing-extensions tzdata"
).split()
NO_PACKAGES = "none"
_LIST_COMMA = re.compile(r",(?!\s*[<>=!~])")  # the comma of `numpy>=2,<3` belongs to it


@dataclass(frozen=True)
class PackageAllowlist:
    """Requirements (`numpy`, `numpy==2.1.*`), one a package, in order of names."""

    requirements: tuple[str, ...] = ()

    @classmethod
    def parse(cls, base: str | None, additional: str = "") -> PackageAllowlist:
        """`listed`, comma separated (None: the built-in list, `none`: nothing), and `more`.

        What comes later wins: `more` can pin a package of the list.

        Raises:
            ValueError: an entry is no package's name with, perhaps, a version.
        """
        first = DEFAULT_PACKAGES if base is None else _split_entries(base)
        by_name = dict(_parse_entry(item) for item in (*first, *_split_entries(additional)))
        return cls(tuple(by_name[name] for name in sorted(by_name)))

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {parse_package_name(item): item for item in self.requirements}

    @cached_property
    def _by_import(self) -> dict[str, str]:
        return {module: name for name in self._by_name for module in get_import_names(name)}

    @property
    def import_names(self) -> frozenset[str]:
        """The names by which the packages are imported."""
        return frozenset(self._by_import)

    @property
    def descriptions(self) -> tuple[str, ...]:
        """For a model or a person: each with its version, if pinned, and its import's name."""
        return tuple(format_with_import(item) for item in self.requirements)

    def find(self, text: str) -> str | None:
        """The package that is meant by `NumPy`, `numpy>=2` or `yaml`; None: not allowed."""
        name = parse_package_name(text)
        if name in self._by_name:
            return name
        return next((n for m, n in self._by_import.items() if normalize_name(m) == name), None)

    def find_imported(self, modules: Iterable[str]) -> frozenset[str]:
        """The packages that these imports need, as far as they are allowed."""
        found = (self._by_import.get(item) for item in modules)
        return frozenset(name for name in found if name)

    def requirements_for(self, names: Iterable[str]) -> tuple[str, ...]:
        """What is to be installed for packages of the list, in order."""
        return tuple(sorted(self._by_name[name] for name in set(names)))


def _split_entries(text: str) -> list[str]:
    found = [item.strip() for item in _LIST_COMMA.split(text)]
    return [item for item in found if item and item.lower() != NO_PACKAGES]


def _parse_entry(text: str) -> tuple[str, str]:
    """A package's name and its requirement, both in normal form."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f"{text!r} is no package's name, with or without a version") from None
    if wanted.url or wanted.marker:
        raise ValueError(f"{text!r}: give a name and, if need be, a version; no address or marker")
    name = normalize_name(wanted.name)
    if name in PREINSTALLED:
        raise ValueError(f"{text!r} need not be allowed: it is always there")
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return name, f"{name}{extras}{wanted.specifier}"
