"""From the settings to a sandbox: never weaker than asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable

from greenloop.errors import SandboxError
from greenloop.sandbox.box import Sandbox
from greenloop.sandbox.container import container_sandbox
from greenloop.sandbox.probe import check_wall
from greenloop.sandbox.process import ProcessSandbox
from greenloop.sandbox.testing import Limits, TestingSandbox
from greenloop.sandbox.walls import Wall, bubblewrap_wall, native_wall
from greenloop.sandbox.warm import WarmSandbox
from greenloop.settings import Settings

KINDS = ("auto", "bubblewrap", "native", "container", "process")


def open_sandbox(settings: Settings | None = None) -> Sandbox:
    """The sandbox that the settings ask for; `auto` is the strongest that holds here.

    Each wall is tried out before it is trusted; a kind that was asked for by name is never
    replaced by another.

    Raises:
        SandboxError: no sandbox of that kind can be had.
    """
    settings = settings or Settings.load()
    limits = Limits(
        timeout_s=settings.timeout_s,
        memory_bytes=settings.memory_mb << 20,
        total_bytes=settings.memory_mb << 20,
        output_bytes=settings.output_kb << 10,
    )
    kind = settings.sandbox
    if kind not in KINDS:
        raise SandboxError(
            f"--sandbox {kind}: no such sandbox; this version has: {', '.join(KINDS)}"
        )
    if kind == "process":
        return ProcessSandbox(limits)
    if kind == "container":
        return _held(container_sandbox(settings, limits), kind)
    return _strongest(limits) if kind == "auto" else _tried(_makers()[kind], kind, limits)


def _makers() -> dict[str, Callable[[], Wall | None]]:
    """The walls of this machine, strongest first."""
    return {"bubblewrap": bubblewrap_wall, "native": native_wall}


def _strongest(limits: Limits) -> TestingSandbox:
    for kind, make in _makers().items():
        try:
            return _tried(make, kind, limits)
        except SandboxError:
            continue
    return ProcessSandbox(limits)


def _tried(make: Callable[[], Wall | None], kind: str, limits: Limits) -> TestingSandbox:
    wall = make() if sys.platform == "linux" else None
    if wall is None:
        raise SandboxError(f"--sandbox {kind}: {_why_not(kind)}")
    return _held(WarmSandbox(wall, limits), kind)


def _held(box: TestingSandbox, kind: str) -> TestingSandbox:
    """The same, after it was tried out."""
    try:
        check_wall(box)
    except SandboxError as error:
        box.close()
        raise SandboxError(f"--sandbox {kind}: {error}") from None
    return box


def _why_not(kind: str) -> str:
    if sys.platform != "linux":
        return "only on Linux; use --sandbox process, and know what it does not keep apart"
    if kind == "bubblewrap":
        return "bwrap is not installed (apt install bubblewrap), or this is root: use native"
    return "not to be had here"
