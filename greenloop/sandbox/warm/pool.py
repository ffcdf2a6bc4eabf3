"""The zygotes of one wall: one for each set of packages and plugins and each hash seed."""

from __future__ import annotations

import threading
from dataclasses import replace

from greenloop.dependencies import Installed
from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import Visible
from greenloop.sandbox.backends.namespaces import Wall
from greenloop.sandbox.warm.zygote_client import Zygote

_Kind = tuple[Installed, tuple[str, ...], int]
_MOST_AWAKE = 4  # each holds a Python with its packages loaded


class Zygotes:
    """Safe to use from several threads. Those that were not used for longest are asleep.

    A zygote that is put to sleep lets its runs come to their end; when it is asked for again it
    starts anew.
    """

    def __init__(self, wall: Wall, seen: Visible) -> None:
        self._wall, self._seen, self._lock = wall, seen, threading.Lock()
        self._all: dict[_Kind, Zygote] = {}
        self._awake: list[_Kind] = []  # the one asked for last stands last
        self._closed = False

    def of(self, packages: Installed, plugins: tuple[str, ...] = (), hash_seed: int = 0) -> Zygote:
        """The zygote that has these packages loaded, and the plugins for pytest of those ones.

        With a hash seed of its own it is bare: it has nothing of the packages loaded.

        Raises SandboxError once all are closed.
        """
        kind = (packages, plugins, hash_seed)
        with self._lock:
            if self._closed:
                raise SandboxError(f"{self._wall.info.backend}: the sandbox is closed")
            if kind not in self._all:
                seen = self._seen.with_packages(packages)
                modules = () if hash_seed else seen.modules
                seen = replace(seen, plugins=plugins, modules=modules, hash_seed=hash_seed)
                self._all[kind] = Zygote(self._wall, seen)
            self._awake = [item for item in self._awake if item != kind] + [kind]
            tired = self._awake[:-_MOST_AWAKE]
            self._awake = self._awake[-_MOST_AWAKE:]
            zygote, sleepers = self._all[kind], [self._all[item] for item in tired]
        for item in sleepers:
            item.sleep()
        return zygote

    def close(self) -> None:
        """Ends them all, with what runs in them."""
        with self._lock:
            self._closed = True
        for item in self._all.values():
            item.close()
