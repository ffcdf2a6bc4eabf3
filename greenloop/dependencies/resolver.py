"""Resolution and installation of the packages that a run needs."""

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
    """Installs packages of the allowlist only, by the names that its `find` returns."""

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
