"""One sandbox for all, and a way to run many programs side by side: each costs a process."""

from __future__ import annotations

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
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.guest.isolation import landlock
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.warm.backend import WarmSandbox
from tests.support.container_image import IMAGE

Programs = Mapping[str, tuple[str, str]]
RunAll = Callable[[Programs], dict[str, TestRun]]


LIMITS = ResourceLimits(
    timeout_s=20,
    memory_bytes=512 << 20,
    total_bytes=512 << 20,
    file_bytes=6 << 20,
    disk_bytes=32 << 20,
)


KINDS = ("bubblewrap", "native", "landlock", "container")


def walls() -> list[str]:
    """The walls that are tried; `test_every_wall_was_tried` says why not more.

    Those that TEST_WALLS names, or `all`; without it the best that this machine has, which `auto`
    takes: each further wall runs everything once more.
    """
    return [kind for kind in KINDS if not why_not(kind)]


def kinds() -> list[str]:
    """The same, and the sandbox without a wall where it is asked for, or all that there is."""
    asked = os.environ.get("TEST_WALLS", "best").split(",")
    bare = not walls() or "all" in asked or "none" in asked
    return [*(["none"] if bare else []), *walls()]


def why_not(kind: str) -> str:
    """Why a wall is not tried; '' where it is."""
    wanted = os.environ.get("TEST_WALLS", "best")
    if wanted == "best":
        better = next((item for item in KINDS[: KINDS.index(kind)] if not _impossible(item)), "")
        if better:
            return f"{better} is better, and TEST_WALLS=all was not given"
    elif wanted != "all" and kind not in wanted.split(","):
        return f"TEST_WALLS={wanted}"
    return _impossible(kind)


@functools.cache
def _impossible(kind: str) -> str:
    """Why a wall cannot be tried on this machine; '' where it can."""
    if kind == "container":
        return _why_no_container()
    if sys.platform != "linux":
        return "only on Linux"
    if kind == "landlock":
        return "" if landlock.version() else "the kernel has no Landlock"
    if not gives_namespaces():
        return "the kernel gives no namespaces"
    if kind == "bubblewrap" and create_bubblewrap_backend() is None:
        return "this is root" if os.getuid() == 0 else "it is not installed"
    return ""


@functools.cache
def _why_no_container() -> str:
    try:
        container_engine()
    except SandboxError as error:
        return f"{error} (here: `python -m tests.support.container_image`)"
    return ""


def container_engine() -> ContainerEngine:
    """The one that HOSTILE_ENGINE names, or the first that will do. Raises SandboxError."""
    return find_engine(os.environ.get("HOSTILE_ENGINE", "auto"), IMAGE)


@functools.cache
def gives_namespaces() -> bool:
    """Whether the kernel lets us have them; in plain docker, for one, it does not."""
    code = (
        "import os\n"
        "from greenloop.sandbox.guest.isolation import syscalls as kernel\n"
        "child = kernel.clone(kernel.ALL_NAMESPACES)\n"
        "os.waitpid(child, 0) if child else os._exit(0)\n"
    )
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def made(kind: str, limits: ResourceLimits = LIMITS) -> BaseSandbox:
    """A sandbox of one kind, with small limits."""
    if kind == "none":
        return ProcessSandbox(limits)
    if kind == "container":
        return ContainerSandbox(container_engine(), limits)
    return warm(kind, limits)


def warm(kind: str, limits: ResourceLimits) -> WarmSandbox:
    """The same of a kind whose zygote is a process of this machine's."""
    if kind == "landlock":
        return LandlockSandbox(limits)
    wall = create_bubblewrap_backend() if kind == "bubblewrap" else create_native_backend()
    assert wall is not None
    return WarmSandbox(wall, limits)


@pytest.fixture(scope="session", params=kinds())
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Every sandbox that this machine has."""
    with made(request.param) as opened:
        yield opened


@pytest.fixture(scope="session")
def run_all(box: Sandbox) -> RunAll:
    """Runs (code, tests) by name, a few at once."""

    def run(programs: Programs) -> dict[str, TestRun]:
        with ThreadPoolExecutor(3) as pool:
            runs = pool.map(lambda pair: box.run_tests(*pair, module="solution"), programs.values())
            return dict(zip(programs, runs, strict=True))

    return run
