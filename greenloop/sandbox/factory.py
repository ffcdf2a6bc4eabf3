"""From the settings to a sandbox: never weaker than asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from greenloop.errors import SandboxError
from greenloop.sandbox.api import Sandbox
from greenloop.sandbox.backends.container.backend import create_container_sandbox
from greenloop.sandbox.backends.landlock import LandlockSandbox
from greenloop.sandbox.backends.namespaces import create_bubblewrap_backend, create_native_backend
from greenloop.sandbox.backends.seatbelt import SeatbeltSandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import BaseSandbox
from greenloop.sandbox.limits import ResourceLimits, limits_from_settings
from greenloop.sandbox.self_check import check_isolation
from greenloop.sandbox.warm.backend import WarmSandbox
from greenloop.settings import Settings

# Makes a sandbox that was not tried yet. Raises SandboxError: why there is none of its kind here.
SandboxFactory = Callable[[ResourceLimits], BaseSandbox]

_INSTALL_HINT = (
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
    limits = limits_from_settings(settings)
    kind, makers = settings.sandbox, _list_factories(settings)
    if kind == "none":
        return ProcessSandbox(limits)
    if kind == "auto":
        return _open_strongest(makers, limits)
    if kind not in makers:
        kinds = ", ".join(("auto", *makers, "none"))
        raise SandboxError(f"--sandbox {kind}: no such sandbox; this version has: {kinds}")
    try:
        return _open_checked(makers[kind], limits)
    except SandboxError as error:
        raise SandboxError(f"--sandbox {kind}: {error}\n{_INSTALL_HINT}") from None


def _list_factories(settings: Settings) -> dict[str, SandboxFactory]:
    """The kinds that keep something apart, in the order in which `auto` tries them."""
    return {
        "bubblewrap": _create_bubblewrap,
        "native": _create_native,
        "landlock": _create_landlock,
        "seatbelt": _create_seatbelt,
        "container": lambda limits: create_container_sandbox(settings, limits),
    }


def _open_strongest(factories: dict[str, SandboxFactory], limits: ResourceLimits) -> BaseSandbox:
    reasons: list[str] = []
    for kind, make in factories.items():
        try:
            return _open_checked(make, limits)
        except SandboxError as error:
            reasons.append(f"{kind}: {str(error).removeprefix(f'{kind}: ')}")
    raise SandboxError(f"no sandbox holds here ({'; '.join(reasons)}).\n{_INSTALL_HINT}")


def _open_checked(factory: SandboxFactory, limits: ResourceLimits) -> BaseSandbox:
    box = factory(limits)
    try:
        check_isolation(box)
    except BaseException:
        box.close()
        raise
    return box


def _create_bubblewrap(limits: ResourceLimits) -> BaseSandbox:
    _require_platform("linux", "Linux")
    wall = create_bubblewrap_backend()
    if wall is None:
        raise SandboxError(
            "not for root; native is" if os.getuid() == 0 else "bwrap is not installed"
        )
    return WarmSandbox(wall, limits)


def _create_native(limits: ResourceLimits) -> BaseSandbox:
    _require_platform("linux", "Linux")
    return WarmSandbox(create_native_backend(), limits)


def _create_landlock(limits: ResourceLimits) -> BaseSandbox:
    _require_platform("linux", "Linux")
    return LandlockSandbox(limits)


def _create_seatbelt(limits: ResourceLimits) -> BaseSandbox:
    _require_platform("darwin", "macOS")
    return SeatbeltSandbox(limits)


def _require_platform(platform: str, name: str) -> None:
    if sys.platform != platform:
        raise SandboxError(f"only on {name}")
