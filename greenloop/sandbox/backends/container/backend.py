"""Container sandbox: a pool of podman or docker containers, each with a warm process."""

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.container.command import ContainerConfig
from greenloop.sandbox.backends.container.container import Container
from greenloop.sandbox.backends.container.runtime import (
    ContainerEngine,
    default_image,
    find_engine,
    is_runtime_error,
    list_runtime_alternatives,
    suggest_remedy,
)
from greenloop.sandbox.backends.mounts import PACKAGES
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.backend import JobPaths, build_payload
from greenloop.settings import Settings

_MAX_RUNS = 500  # per container, in case something accumulates in it
_MAX_CONTAINERS = 4
_MAX_ATTEMPTS = 2
_POLL_SECONDS = 0.05
_ISOLATION_TEXT = (
    "strong: a container of {name} {version} ({image}): own file system, network, processes and "
    "user, no capabilities, system-call filter, limits on time, memory, processes, disk and "
    "output; shares the kernel of its engine"
)


class ContainerSandbox(Sandbox):
    """Pool of containers. Each runs one job at a time and is then emptied; other jobs wait."""

    def __init__(self, engine: ContainerEngine, limits: ResourceLimits | None = None) -> None:
        super().__init__(limits)
        isolation = _ISOLATION_TEXT.format(**vars(engine))
        self.info = SandboxInfo(backend="container", isolation=isolation)
        self._engine, self._has_working_runtime = engine, False
        self._runtime_lock = threading.Lock()
        self._idle: list[Container] = []
        self._container_count, self._is_closed = 0, False
        self._condition = threading.Condition()
        self._max_containers = max(1, min(os.cpu_count() or 1, _MAX_CONTAINERS))

    def close(self) -> None:
        """Interrupt all runs and end all containers."""
        super().close()
        with self._condition:
            self._is_closed, idle, self._idle = True, self._idle, []
        _end_all(idle)

    def run(self, job: Job) -> ProcessResult:
        started, stop = time.monotonic(), self._stop_event(job)
        limits = job.apply_limits(self.limits)
        config = ContainerConfig.from_limits(limits, job.packages)
        paths = JobPaths(packages=PACKAGES if job.packages else "")
        # The only process to fork in a container has hash seed 0 and pytest.
        is_cold = job.hash_seed != 0 or not job.has_pytest
        payload = json.dumps({**build_payload(job, paths), "cold": is_cold}).encode()
        for _ in range(_MAX_ATTEMPTS):
            container = self._acquire(config, stop)
            if container is None:
                return ProcessResult.without_report("interrupted", started)
            try:
                return container.run(payload, limits, stop, job.on_progress, job.artifact_request)
            except (OSError, EOFError, ValueError):
                continue  # the container ended, perhaps for another reason than this run
            finally:
                self._release(container)
        output = b"the container ended without a report"
        return ProcessResult.without_report("crashed", started, output)

    def _acquire(self, config: ContainerConfig, stop: threading.Event) -> Container | None:
        """Return a ready container for exclusive use; None if `stop` is set first."""
        while not stop.is_set():
            container = self._take_idle_or_create(config, stop)
            if container is not None and self._wait_or_release(container, stop):
                return container
        return None

    def _wait_or_release(self, container: Container, stop: threading.Event) -> bool:
        """Wait until a container is ready; if that fails, release it and return False or raise."""
        try:
            if _wait_until_ready(container, stop):
                return True
        except SandboxError as error:
            if not container.runs:
                raise SandboxError(suggest_remedy(self._engine, str(error)) or str(error)) from None
        finally:
            if container.is_lost:
                self._release(container)
        return False

    def _take_idle_or_create(
        self, config: ContainerConfig, stop: threading.Event
    ) -> Container | None:
        """Return an idle container of this configuration or a new one, ending another if necessary.

        Return None if all containers are busy or `stop` is set.
        """
        with self._condition:
            if self._is_closed:
                raise SandboxError("the sandbox is closed")
            fit = [item for item in self._idle if item.config == config]
            has_room = self._container_count < self._max_containers
            unfit = [] if fit or has_room else self._idle[:1]
            self._idle = [item for item in self._idle if item not in (*fit[-1:], *unfit)]
            is_full = not (fit or unfit or has_room)
            if is_full:
                self._condition.wait(_POLL_SECONDS)
            elif not fit:
                self._container_count += 1 - len(unfit)
        _end_all(unfit)
        if fit or is_full:
            return fit[-1] if fit else None
        return self._create(config, stop)

    def _create(self, config: ContainerConfig, stop: threading.Event) -> Container | None:
        container = None
        try:
            with self._runtime_lock:
                if self._has_working_runtime:
                    container = Container(self._engine, config)
                else:
                    container = self._create_first(config, stop)
        finally:
            if container is None:
                with self._condition:
                    self._container_count -= 1
        return container

    def _create_first(self, config: ContainerConfig, stop: threading.Event) -> Container | None:
        """Create the first container, with the first runtime of the engine that starts one."""
        errors: list[str] = []
        for engine in list_runtime_alternatives(self._engine):
            try:
                container = Container(engine, config)
                try:
                    self._has_working_runtime = _wait_until_ready(container, stop)
                finally:
                    if container.is_lost:
                        container.end()
                self._engine = engine
                return container if self._has_working_runtime else None
            except SandboxError as error:
                if remedy := suggest_remedy(engine, str(error)):
                    raise SandboxError(remedy) from None
                errors.append(str(error))
                if not is_runtime_error(errors[-1]):
                    break
        raise SandboxError(errors[-1])

    def _release(self, container: Container) -> None:
        is_kept = not container.is_lost and container.runs < _MAX_RUNS
        with self._condition:
            is_kept = is_kept and not self._is_closed
            if is_kept:
                self._idle.append(container)
                self._condition.notify()
        if not is_kept:
            container.end()
            with self._condition:
                self._container_count -= 1
                self._condition.notify()


def create_container_sandbox(settings: Settings, limits: ResourceLimits) -> ContainerSandbox:
    """Create a sandbox with the engine and image of the settings. Raises SandboxError."""
    image = settings.container_image or default_image()
    return ContainerSandbox(find_engine(settings.container_engine, image), limits)


def _wait_until_ready(container: Container, stop: threading.Event) -> bool:
    """Wait until a container is ready; return False if `stop` is set. Raises SandboxError."""
    container.is_lost = True
    while not container.poll_ready(_POLL_SECONDS):
        if stop.is_set():
            return False
    container.is_lost = False
    return True


def _end_all(containers: list[Container]) -> None:
    """End containers in parallel: an engine takes seconds for each."""
    if not containers:
        return
    for container in containers:
        container.disconnect()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(Container.end, containers))
