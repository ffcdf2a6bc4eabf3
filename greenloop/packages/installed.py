"""Packages that lie ready in a folder."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.packages.names import imports_of


@dataclass(frozen=True)
class Installed:
    """What a sandbox needs to know of packages; without any, nothing is added to it.

    `names` were asked for; `versions` are all that are there, dependencies too, as (name, "version
    sha256:…" of the wheel). `modules` may be imported beforehand. `digest` tells two installations
    apart that lie in the same `folder` one after the other.
    """

    names: tuple[str, ...] = ()
    folder: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    modules: tuple[str, ...] = ()
    digest: str = ""

    @property
    def imports(self) -> frozenset[str]:
        """The names by which they are imported."""
        known = (module for name in self.names for module in imports_of(name))
        return frozenset((*self.modules, *known))

    def __bool__(self) -> bool:
        return bool(self.names)

    def version(self, name: str) -> str:
        """A package's version alone, '' where it is not there."""
        return dict(self.versions).get(name, "").partition(" ")[0]

    def short(self) -> str:
        """What was asked for, with versions, in one line."""
        return ", ".join(f"{name} {self.version(name)}".strip() for name in self.names)
