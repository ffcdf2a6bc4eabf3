"""Sandboxes of this machine, and a helper that runs many programs in parallel."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from greenloop.errors import SandboxError
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.container.backend import ContainerSandbox
from greenloop.sandbox.backends.container.runtime import ContainerEngine, find_engine
from greenloop.sandbox.backends.landlock import LandlockSandbox
from greenloop.sandbox.backends.namespaces import create_bubblewrap_backend, create_native_backend
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.guest.isolation import landlock
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.warm.backend import WarmSandbox
from tests.support.container_image import IMAGE

Programs = Mapping[str, tuple[str, str]]
RunAll = Callable[[Programs], dict[str, TestRun]]


LIMITS = ResourceLimits(
    timeout_s=60,
    memory_bytes=512 << 20,
    total_bytes=512 << 20,
    file_bytes=6 << 20,
    disk_bytes=32 << 20,
)


KINDS = ("bubblewrap", "native", "landlock", "container")


def isolating_kinds() -> list[str]:
    """Return the isolating backends that are tested; see `test_every_backend_opens`.

    TEST_SANDBOXES lists them, or is `all`; by default it is the best one, which `auto` selects: each
    further one runs all tests again.
    """
    return [kind for kind in KINDS if not skip_reason(kind)]


def list_tested_kinds() -> list[str]:
    """Return the same, and `none` where it is requested or the only one."""
    requested = os.environ.get("TEST_SANDBOXES", "best").split(",")
    bare = not isolating_kinds() or "all" in requested or "none" in requested
    return [*(["none"] if bare else []), *isolating_kinds()]


def skip_reason(kind: str) -> str:
    """Return why a backend is not tested; '' if it is."""
    requested = os.environ.get("TEST_SANDBOXES", "best")
    if requested == "best":
        better = next(
            (item for item in KINDS[: KINDS.index(kind)] if not _missing_requirement(item)), ""
        )
        if better:
            return f"{better} is better, and TEST_SANDBOXES=all was not given"
    elif requested != "all" and kind not in requested.split(","):
        return f"TEST_SANDBOXES={requested}"
    return _missing_requirement(kind)


@functools.cache
def _missing_requirement(kind: str) -> str:
    """Return why a backend does not work on this machine; '' if it does."""
    if kind == "container":
        return _missing_container_requirement()
    if sys.platform != "linux":
        return "only on Linux"
    if kind == "landlock":
        return "" if landlock.version() else "the kernel has no Landlock"
    if not has_namespaces():
        return "the kernel allows no namespaces"
    if kind == "bubblewrap" and create_bubblewrap_backend() is None:
        return "this is root" if os.getuid() == 0 else "it is not installed"
    return ""


@functools.cache
def _missing_container_requirement() -> str:
    try:
        container_engine()
    except SandboxError as error:
        return f"{error} (here: `python -m tests.support.container_image`)"
    return ""


def container_engine() -> ContainerEngine:
    """Return the engine that HOSTILE_ENGINE names, or the first that works. Raises SandboxError."""
    return find_engine(os.environ.get("HOSTILE_ENGINE", "auto"), IMAGE)


@functools.cache
def has_namespaces() -> bool:
    """Return whether the kernel allows namespaces; in plain docker it does not."""
    code = (
        "import os\n"
        "from greenloop.sandbox.guest.isolation import syscalls as kernel\n"
        "child = kernel.clone(kernel.ALL_NAMESPACES)\n"
        "os.waitpid(child, 0) if child else os._exit(0)\n"
    )
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def make_sandbox(kind: str, limits: ResourceLimits = LIMITS) -> Sandbox:
    """Create a sandbox of one kind, with small limits."""
    if kind == "none":
        return ProcessSandbox(limits)
    if kind == "container":
        return ContainerSandbox(container_engine(), limits)
    return warm(kind, limits)


def warm(kind: str, limits: ResourceLimits) -> WarmSandbox:
    """Create a sandbox whose zygote is a process of this machine."""
    if kind == "landlock":
        return LandlockSandbox(limits)
    backend = create_bubblewrap_backend() if kind == "bubblewrap" else create_native_backend()
    assert backend is not None
    return WarmSandbox(backend, limits)


@pytest.fixture(scope="session", params=list_tested_kinds())
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each tested sandbox."""
    with make_sandbox(request.param) as opened:
        yield opened


@pytest.fixture(scope="session")
def run_all(box: Sandbox) -> RunAll:
    """Return a function that runs (code, tests) by name, a few in parallel."""

    def run(programs: Programs) -> dict[str, TestRun]:
        with ThreadPoolExecutor(3) as pool:
            runs = pool.map(lambda pair: box.run_tests(*pair, module="solution"), programs.values())
            return dict(zip(programs, runs, strict=True))

    return run
