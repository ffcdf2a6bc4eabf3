"""One sandbox for all, and a way to run many programs side by side: each costs a process."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.inside import landlock
from greenloop.sandbox.landlocked import LandlockSandbox
from greenloop.sandbox.process import ProcessSandbox
from greenloop.sandbox.testing import Limits
from greenloop.sandbox.walls import bubblewrap_wall, native_wall
from greenloop.sandbox.warm import WarmSandbox

Programs = Mapping[str, tuple[str, str]]
RunAll = Callable[[Programs], dict[str, TestRun]]


LIMITS = Limits(
    timeout_s=20,
    memory_bytes=512 << 20,
    total_bytes=512 << 20,
    file_bytes=6 << 20,
    disk_bytes=32 << 20,
)


def walls() -> list[str]:
    """The walls that can be tried on this machine."""
    if sys.platform != "linux":
        return []
    found = ["bubblewrap"] if bubblewrap_wall() and gives_namespaces() else []
    found += ["native"] if gives_namespaces() else []
    return [*found, "landlock"] if landlock.version() else found


@functools.cache
def gives_namespaces() -> bool:
    """Whether the kernel lets us have them; in plain docker, for one, it does not."""
    code = (
        "import os\n"
        "from greenloop.sandbox.inside import kernel\n"
        "child = kernel.clone(kernel.ALL_NAMESPACES)\n"
        "os.waitpid(child, 0) if child else os._exit(0)\n"
    )
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def made(kind: str, limits: Limits = LIMITS) -> Sandbox:
    """A sandbox of one kind, with small limits."""
    if kind == "none":
        return ProcessSandbox(limits)
    return warm(kind, limits)


def warm(kind: str, limits: Limits) -> WarmSandbox:
    """The same of a kind that has a wall."""
    if kind == "landlock":
        return LandlockSandbox(limits)
    wall = bubblewrap_wall() if kind == "bubblewrap" else native_wall()
    assert wall is not None
    return WarmSandbox(wall, limits)


@pytest.fixture(scope="session", params=["none", *walls()])
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
