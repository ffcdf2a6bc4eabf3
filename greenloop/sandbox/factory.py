"""Choice of the sandbox by the settings; never a weaker one than requested."""

import os
import sys
from collections.abc import Callable
from functools import partial

from greenloop.errors import SandboxError
from greenloop.plugins import list_plugins, load_plugin
from greenloop.sandbox.backends.container.backend import create_container_sandbox
from greenloop.sandbox.backends.landlock import LandlockSandbox
from greenloop.sandbox.backends.namespaces import create_bubblewrap_backend, create_native_backend
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.limits import ResourceLimits, limits_from_settings
from greenloop.sandbox.self_check import check_isolation
from greenloop.sandbox.warm.backend import WarmSandbox
from greenloop.settings import Settings

# Creates a sandbox. Raises SandboxError with the reason if this machine cannot run it.
SandboxFactory = Callable[[ResourceLimits], Sandbox]

_LINUX_HINT = (
    "apt install bubblewrap, or allow user namespaces, or install podman and an image for "
    "--sandbox container"
)
_OTHER_HINT = "install podman or docker and an image: outside of Linux the sandbox is a container"
_NONE_HINT = (
    "--sandbox none runs without a sandbox: the code can then reach your files, network and "
    "processes"
)
_INSTALL_HINT = (
    f"To get one: {_LINUX_HINT if sys.platform == 'linux' else _OTHER_HINT}. {_NONE_HINT}."
)


def open_sandbox(settings: Settings | None = None) -> Sandbox:
    """Open the sandbox that the settings name; `auto` is the first that passes the self-check.

    A kind that is named is never replaced by another. Every kind but `none` must pass the
    self-check. Kinds of installed packages (entry points `greenloop.sandboxes`: a function of the
    settings and the limits that returns a `Sandbox`) are used only by name, not by `auto`.

    Raises:
        SandboxError: there is no such kind, or it does not work on this machine.
    """
    settings = settings or Settings.load()
    limits = limits_from_settings(settings)
    kind, factories = settings.sandbox, _list_factories(settings)
    if kind == "none":
        return ProcessSandbox(limits)
    if kind == "auto":
        return _open_strongest(factories, limits)
    factory = factories.get(kind) or _load_factory(kind, settings)
    try:
        return _open_checked(factory, limits)
    except SandboxError as error:
        why = str(error).rstrip(".?!")
        raise SandboxError(f"--sandbox {kind}: {why}. {_INSTALL_HINT}") from None


def _list_factories(settings: Settings) -> dict[str, SandboxFactory]:
    """Return the kinds that isolate, in the order in which `auto` tries them."""
    of_linux: dict[str, SandboxFactory] = {
        "bubblewrap": _create_bubblewrap,
        "native": partial(WarmSandbox, create_native_backend()),
        "landlock": LandlockSandbox,
    }
    if sys.platform != "linux":
        of_linux = dict.fromkeys(of_linux, _refuse)
    return {**of_linux, "container": partial(create_container_sandbox, settings)}


def _load_factory(kind: str, settings: Settings) -> SandboxFactory:
    """Load the factory that an installed package registers for a kind."""
    create = load_plugin("greenloop.sandboxes", kind)
    if create is None:
        known = [*_list_factories(settings), *list_plugins("greenloop.sandboxes")]
        kinds = ", ".join(("auto", *known, "none"))
        raise SandboxError(
            f"--sandbox or GREENLOOP_SANDBOX: no such sandbox: {kind!r}; choose one of {kinds}"
        )

    def open_plugin(limits: ResourceLimits) -> Sandbox:
        created = create(settings, limits)
        if not isinstance(created, Sandbox):
            raise SandboxError(f"the plugin returned no Sandbox but {type(created).__name__}")
        return created

    return open_plugin


def _open_strongest(factories: dict[str, SandboxFactory], limits: ResourceLimits) -> Sandbox:
    reasons: list[str] = []
    for kind, factory in factories.items():
        try:
            return _open_checked(factory, limits)
        except SandboxError as error:
            reasons.append(f"{kind}: {str(error).removeprefix(f'{kind}: ')}")
    raise SandboxError(f"no sandbox works here ({'; '.join(reasons)}). {_INSTALL_HINT}")


def _open_checked(factory: SandboxFactory, limits: ResourceLimits) -> Sandbox:
    sandbox = factory(limits)
    try:
        check_isolation(sandbox)
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def _create_bubblewrap(limits: ResourceLimits) -> Sandbox:
    backend = create_bubblewrap_backend()
    if backend is None:
        is_root = os.getuid() == 0
        raise SandboxError(
            "does not work for root; use native" if is_root else "bwrap is not installed"
        )
    return WarmSandbox(backend, limits)


def _refuse(limits: ResourceLimits) -> Sandbox:
    raise SandboxError("only on Linux")
