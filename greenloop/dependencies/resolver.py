"""What a run of ours needs of packages: which it may have, and where they come from."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from greenloop.dependencies.allowlist import AllowList
from greenloop.dependencies.names import imported_by
from greenloop.dependencies.store import Installed, Store


@dataclass(frozen=True)
class Provider:
    """Only packages of the list are ever installed; names are those of `AllowList.find`."""

    allowed: AllowList = field(default_factory=AllowList)
    store: Store = field(default_factory=Store)

    def imported(self, sources: Iterable[str], own: Iterable[str] = ()) -> frozenset[str]:
        """Allowed packages that sources import; `own` are the names of modules of their own."""
        modules = {item for source in sources for item in imported_by(source)}
        return self.allowed.imported(modules - set(own))

    async def find(self, names: Iterable[str]) -> Installed | None:
        """The packages where they are in the cache already."""
        return await asyncio.to_thread(self.store.find, self.allowed.requirements_of(names))

    async def install(self, names: Iterable[str]) -> Installed:
        """The packages. When cancelled, the installation is ended and nothing of it is left.

        Raises:
            PackagesError: they cannot be had.
        """
        stop = threading.Event()
        wanted = self.allowed.requirements_of(names)
        task = asyncio.ensure_future(asyncio.to_thread(self.store.install, wanted, stop))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stop.set()
            with contextlib.suppress(Exception):
                await task
            raise
