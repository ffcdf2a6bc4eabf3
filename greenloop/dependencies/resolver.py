"""What a run of ours needs of packages: which it may have, and where they come from."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from greenloop.dependencies.allowlist import PackageAllowlist
from greenloop.dependencies.names import find_imported_modules
from greenloop.dependencies.store import InstalledPackages, PackageStore


@dataclass(frozen=True)
class PackageResolver:
    """Only packages of the list are ever installed; names are those of `AllowList.find`."""

    allowlist: PackageAllowlist = field(default_factory=PackageAllowlist)
    store: PackageStore = field(default_factory=PackageStore)

    def find_imported(
        self, sources: Iterable[str], own_modules: Iterable[str] = ()
    ) -> frozenset[str]:
        """Allowed packages that sources import; `own` are the names of modules of their own."""
        modules = {item for source in sources for item in find_imported_modules(source)}
        return self.allowlist.find_imported(modules - set(own_modules))

    async def find_installed(self, names: Iterable[str]) -> InstalledPackages | None:
        """The packages where they are in the cache already."""
        return await asyncio.to_thread(self.store.find, self.allowlist.requirements_for(names))

    async def install(self, names: Iterable[str]) -> InstalledPackages:
        """The packages. When cancelled, the installation is ended and nothing of it is left.

        Raises:
            PackagesError: they cannot be had.
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
