"""The zygotes of one wall: one for each set of packages and plugins and each hash seed."""

from __future__ import annotations

import threading
from dataclasses import replace

from greenloop.dependencies import InstalledPackages
from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.warm.zygote_client import ZygoteClient

_ZygoteKey = tuple[InstalledPackages, tuple[str, ...], int]
_MAX_ACTIVE = 4  # each holds a Python with its packages loaded


class ZygotePool:
    """Safe to use from several threads. Those that were not used for longest are asleep.

    A zygote that is put to sleep lets its runs come to their end; when it is asked for again it
    starts anew.
    """

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        self._backend, self._mounts, self._lock = backend, mounts, threading.Lock()
        self._zygotes: dict[_ZygoteKey, ZygoteClient] = {}
        self._active_keys: list[_ZygoteKey] = []  # the one asked for last stands last
        self._is_closed = False

    def get(
        self, packages: InstalledPackages, plugins: tuple[str, ...] = (), hash_seed: int = 0
    ) -> ZygoteClient:
        """The zygote that has these packages loaded, and the plugins for pytest of those ones.

        With a hash seed of its own it is bare: it has nothing of the packages loaded.

        Raises SandboxError once all are closed.
        """
        kind = (packages, plugins, hash_seed)
        with self._lock:
            if self._is_closed:
                raise SandboxError(f"{self._backend.info.backend}: the sandbox is closed")
            if kind not in self._zygotes:
                seen = self._mounts.with_packages(packages)
                modules = () if hash_seed else seen.modules
                seen = replace(seen, plugins=plugins, modules=modules, hash_seed=hash_seed)
                self._zygotes[kind] = ZygoteClient(self._backend, seen)
            self._active_keys = [item for item in self._active_keys if item != kind] + [kind]
            tired = self._active_keys[:-_MAX_ACTIVE]
            self._active_keys = self._active_keys[-_MAX_ACTIVE:]
            zygote, sleepers = self._zygotes[kind], [self._zygotes[item] for item in tired]
        for item in sleepers:
            item.retire_when_idle()
        return zygote

    def close(self) -> None:
        """Ends them all, with what runs in them."""
        with self._lock:
            self._is_closed = True
        for item in self._zygotes.values():
            item.close()
