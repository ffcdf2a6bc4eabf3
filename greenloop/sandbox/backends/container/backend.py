"""The container sandbox: the warm process inside podman or docker, a few of them side by side."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.container.command import Shape
from greenloop.sandbox.backends.container.container import Container
from greenloop.sandbox.backends.container.runtime import (
    Engine,
    alternatives,
    default_image,
    find_engine,
    is_the_runtimes,
    mend,
)
from greenloop.sandbox.backends.mounts import PACKAGES
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.warm.backend import Place, as_job
from greenloop.settings import Settings

_MOST_RUNS = 500  # of one container: whatever might grow in it does not grow for ever
_MOST_CONTAINERS = 4
_TRIES = 2
_POLL_S = 0.05
_PROMISE = (
    "strong: a container of {name} {version} ({image}): own file system, network, processes and "
    "user, no capabilities, system-call filter, limits on time, memory, processes, disk and "
    "output; shares the kernel of its engine"
)


class ContainerSandbox(TestingSandbox):
    """One run at a time in each container, which is emptied after it; the rest wait their turn."""

    def __init__(self, engine: Engine, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._engine, self._is_settled = engine, False
        self._settling = threading.Lock()
        self._idle: list[Container] = []
        self._count, self._is_closed = 0, False
        self._changed = threading.Condition()
        self._most = max(1, min(os.cpu_count() or 1, _MOST_CONTAINERS))

    @property
    def info(self) -> SandboxInfo:
        engine = self._engine
        words = {"name": engine.name, "version": engine.version, "image": engine.image}
        return SandboxInfo(backend="container", isolation=_PROMISE.format(**words))

    def close(self) -> None:
        """Ends all containers; runs that are under way are interrupted."""
        super().close()
        with self._changed:
            self._is_closed, idle, self._idle = True, self._idle, []
        _end(idle)

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        started, limits = time.monotonic(), self.within(work)
        shape = Shape.of(limits, work.packages, work.plugins)
        place = Place(packages=PACKAGES if work.packages else "")
        wanted = json.dumps(work.wanted).encode() if work.wanted else b""
        cold = work.hash_seed != 0  # no other process is there to be copied
        job = json.dumps({**as_job(work, {}, place), "wanted": None, "cold": cold}).encode()
        for _ in range(_TRIES):
            container = self._taken(shape, stop)
            if container is None:
                return Ended("interrupted", -9, b"", b"", time.monotonic() - started)
            try:
                return container.run(job, limits, stop, wanted)
            except (OSError, EOFError, ValueError):
                continue  # it has died, perhaps by no fault of the run's
            finally:
                self._give_back(container)
        words = b"the container has died without a report"
        return Ended("crashed", -9, words, b"", time.monotonic() - started)

    def _taken(self, shape: Shape, stop: threading.Event) -> Container | None:
        """A container that waits for a run, for the caller alone; None where `stop` came before."""
        while not stop.is_set():
            container = self._idle_or_new(shape, stop)
            if container is not None and self._is_alive(container, stop):
                return container
        return None

    def _is_alive(self, container: Container, stop: threading.Event) -> bool:
        """Waits until it is ready for a run. False: it will not be, and is given back."""
        try:
            if _comes_to_life(container, stop):
                return True
        except SandboxError as error:
            if not container.runs:
                raise SandboxError(mend(self._engine, str(error)) or str(error)) from None
        finally:
            if container.is_lost:
                self._give_back(container)
        return False

    def _idle_or_new(self, shape: Shape, stop: threading.Event) -> Container | None:
        """None where all are busy, or `stop` came. Of those that do not fit one makes room."""
        with self._changed:
            if self._is_closed:
                raise SandboxError("the sandbox is closed")
            fit = [item for item in self._idle if item.shape == shape]
            unfit = [] if fit or self._count < self._most else self._idle[:1]
            self._idle = [item for item in self._idle if item not in (*fit[-1:], *unfit)]
            is_full = not fit and not unfit and self._count >= self._most
            if is_full:
                self._changed.wait(_POLL_S)
            elif not fit:
                self._count += 1 - len(unfit)
        _end(unfit)
        if fit or is_full:
            return fit[-1] if fit else None
        return self._new(shape, stop)

    def _new(self, shape: Shape, stop: threading.Event) -> Container | None:
        container = None
        try:
            with self._settling:
                if self._is_settled:
                    container = Container(self._engine, shape)
                else:
                    container = self._settled(shape, stop)
        finally:
            if container is None:
                with self._changed:
                    self._count -= 1
        return container

    def _settled(self, shape: Shape, stop: threading.Event) -> Container | None:
        """The first container of all: with the first of the engine's runtimes that starts one."""
        said: list[str] = []
        for engine in alternatives(self._engine):
            try:
                container = _alive(Container(engine, shape), stop)
                self._engine, self._is_settled = engine, container is not None
                return container
            except SandboxError as error:
                if mended := mend(engine, str(error)):
                    raise SandboxError(mended) from None
                said.append(str(error))
                if not is_the_runtimes(said[-1]):
                    break
        raise SandboxError(said[-1])

    def _give_back(self, container: Container) -> None:
        is_kept = not container.is_lost and container.runs < _MOST_RUNS
        with self._changed:
            is_kept = is_kept and not self._is_closed
            if is_kept:
                self._idle.append(container)
                self._changed.notify()
        if not is_kept:
            container.end()
            with self._changed:
                self._count -= 1
                self._changed.notify()


def container_sandbox(settings: Settings, limits: Limits) -> ContainerSandbox:
    """With the engine and the image that the settings ask for. Raises SandboxError."""
    image = settings.container_image or default_image()
    return ContainerSandbox(find_engine(settings.container_engine, image), limits)


def _alive(container: Container, stop: threading.Event) -> Container | None:
    """It, once it has come to life; None where `stop` came before. Ended where it is not."""
    try:
        if _comes_to_life(container, stop):
            return container
    finally:
        if container.is_lost:
            container.end()
    return None


def _comes_to_life(container: Container, stop: threading.Event) -> bool:
    """False where `stop` came before it was ready; raises SandboxError where it will never be."""
    container.is_lost = True
    while not container.is_ready(_POLL_S):
        if stop.is_set():
            return False
    container.is_lost = False
    return True


def _end(containers: list[Container]) -> None:
    """All at once: an engine takes its time for each."""
    if not containers:
        return
    for container in containers:
        container.leave()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Container.end, containers))
