"""Pool of zygotes: one for each set of packages, set of plugins, and hash seed."""

from __future__ import annotations

import threading
from dataclasses import replace

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.warm.zygote_client import ZygoteClient

_ZygoteKey = tuple[InstalledPackages, tuple[str, ...], int]
_MAX_ACTIVE = 4  # each is a Python process with its packages loaded


class ZygotePool:
    """Keeps the most recently used zygotes running. Safe to use from several threads.

    A zygote that is retired finishes its runs, and starts anew when it is needed again.
    """

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        self._backend, self._mounts, self._lock = backend, mounts, threading.Lock()
        self._zygotes: dict[_ZygoteKey, ZygoteClient] = {}
        self._active_keys: list[_ZygoteKey] = []  # the most recently used last
        self._is_closed = False

    def get(
        self, packages: InstalledPackages, plugins: tuple[str, ...] = (), hash_seed: int = 0
    ) -> ZygoteClient:
        """Return the zygote that has these packages and pytest plugins loaded.

        With a hash seed it has no package loaded.

        Raises:
            SandboxError: the pool is closed.
        """
        key = (packages, plugins, hash_seed)
        with self._lock:
            if self._is_closed:
                raise SandboxError(f"{self._backend.info.backend}: the sandbox is closed")
            if key not in self._zygotes:
                mounts = self._mounts.with_packages(packages)
                modules = () if hash_seed else mounts.modules
                mounts = replace(mounts, plugins=plugins, modules=modules, hash_seed=hash_seed)
                self._zygotes[key] = ZygoteClient(self._backend, mounts)
            keys = [item for item in self._active_keys if item != key] + [key]
            self._active_keys = keys[-_MAX_ACTIVE:]
            zygote, retired = self._zygotes[key], [self._zygotes[i] for i in keys[:-_MAX_ACTIVE]]
        for item in retired:
            item.retire_when_idle()
        return zygote

    def close(self) -> None:
        """End all zygotes, with everything that runs in them."""
        with self._lock:
            self._is_closed = True
        for item in self._zygotes.values():
            item.close()
