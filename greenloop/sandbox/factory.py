"""From the settings to a sandbox: never weaker than asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from greenloop.errors import SandboxError
from greenloop.sandbox.api import Sandbox
from greenloop.sandbox.backends.container.backend import container_sandbox
from greenloop.sandbox.backends.landlock import LandlockSandbox
from greenloop.sandbox.backends.namespaces import bubblewrap_wall, native_wall
from greenloop.sandbox.backends.seatbelt import SeatbeltSandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.limits import Limits, limits_of
from greenloop.sandbox.self_check import check_wall
from greenloop.sandbox.warm.backend import WarmSandbox
from greenloop.settings import Settings

# Makes a sandbox that was not tried yet. Raises SandboxError: why there is none of its kind here.
Maker = Callable[[Limits], TestingSandbox]

_HOW_TO_GET_ONE = (
    "To get one: apt install bubblewrap, or allow user namespaces, or install podman and an image "
    "for --sandbox container. "
    "--sandbox none goes without; know what it does not keep apart: your files, network, processes."
)


def open_sandbox(settings: Settings | None = None) -> Sandbox:
    """The sandbox that the settings ask for; `auto` is the first that holds here.

    Each wall is tried out before it is trusted; a kind that was asked for by name is never
    replaced by another, and only `none` goes without a wall.

    Raises:
        SandboxError: no sandbox of that kind can be had.
    """
    settings = settings or Settings.load()
    limits = limits_of(settings)
    kind, makers = settings.sandbox, _makers(settings)
    if kind == "none":
        return ProcessSandbox(limits)
    if kind == "auto":
        return _strongest(makers, limits)
    if kind not in makers:
        kinds = ", ".join(("auto", *makers, "none"))
        raise SandboxError(f"--sandbox {kind}: no such sandbox; this version has: {kinds}")
    try:
        return _tried(makers[kind], limits)
    except SandboxError as error:
        raise SandboxError(f"--sandbox {kind}: {error}\n{_HOW_TO_GET_ONE}") from None


def _makers(settings: Settings) -> dict[str, Maker]:
    """The kinds that keep something apart, in the order in which `auto` tries them."""
    return {
        "bubblewrap": _bubblewrap,
        "native": _native,
        "landlock": _landlock,
        "seatbelt": _seatbelt,
        "container": lambda limits: container_sandbox(settings, limits),
    }


def _strongest(makers: dict[str, Maker], limits: Limits) -> TestingSandbox:
    reasons: list[str] = []
    for kind, make in makers.items():
        try:
            return _tried(make, limits)
        except SandboxError as error:
            reasons.append(f"{kind}: {str(error).removeprefix(f'{kind}: ')}")
    raise SandboxError(f"no sandbox holds here ({'; '.join(reasons)}).\n{_HOW_TO_GET_ONE}")


def _tried(make: Maker, limits: Limits) -> TestingSandbox:
    box = make(limits)
    try:
        check_wall(box)
    except BaseException:
        box.close()
        raise
    return box


def _bubblewrap(limits: Limits) -> TestingSandbox:
    _only_on("linux", "Linux")
    wall = bubblewrap_wall()
    if wall is None:
        raise SandboxError(
            "not for root; native is" if os.getuid() == 0 else "bwrap is not installed"
        )
    return WarmSandbox(wall, limits)


def _native(limits: Limits) -> TestingSandbox:
    _only_on("linux", "Linux")
    return WarmSandbox(native_wall(), limits)


def _landlock(limits: Limits) -> TestingSandbox:
    _only_on("linux", "Linux")
    return LandlockSandbox(limits)


def _seatbelt(limits: Limits) -> TestingSandbox:
    _only_on("darwin", "macOS")
    return SeatbeltSandbox(limits)


def _only_on(platform: str, name: str) -> None:
    if sys.platform != platform:
        raise SandboxError(f"only on {name}")
