"""Opening of a sandbox: its processes start first, beside all imports and other work."""

from __future__ import annotations

import contextlib
import os
import sys
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from greenloop.errors import GreenloopError, SandboxError
from greenloop.sandbox.backends.mounts import build_guest_mounts
from greenloop.sandbox.backends.namespaces import create_bubblewrap_backend, create_native_backend
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.warm.zygote_client import ZygotePool

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox
    from greenloop.settings import Settings


def open_sandbox(settings: Settings | None = None) -> Sandbox:
    """Open the sandbox that the settings name; `auto` is the first that passes the self-check.

    A kind that is named is never replaced by another. Every kind but `none` must pass the
    self-check. Kinds of installed packages (entry points `greenloop.sandboxes`: a function of the
    settings and the limits that returns a `Sandbox`) are used only by name, not by `auto`.

    Raises:
        SandboxError: there is no such kind, or it does not work on this machine.
    """
    zygotes = start_zygotes(settings.sandbox if settings else None)
    try:
        from greenloop.sandbox.factory import open_with_zygotes
        from greenloop.settings import Settings

        settings = settings or Settings.load()
    except BaseException:  # also Ctrl-C, and settings that are wrong
        if zygotes is not None:
            zygotes.close()
        raise
    return open_with_zygotes(settings, zygotes)


class SandboxOpening:
    """Opens a sandbox in a thread; a context manager closes it.

    Its processes take half a second to start, in which a command can import its modules. They are
    started even before the settings are known, unless `kind`, which the command line names, or the
    environment asks for another kind of sandbox.
    """

    def __init__(self, kind: str | None = None, zygotes: ZygotePool | None = None) -> None:
        """`zygotes` are what `start_zygotes` has started before."""
        self._zygotes = zygotes or start_zygotes(kind)
        self._pool = ThreadPoolExecutor(1, "opening")
        self._opened: Future[Sandbox] | None = None

    def begin(self, settings: Settings) -> None:
        """Begin to open the sandbox of the settings."""
        self._opened = self._pool.submit(self._open, settings)
        if self._zygotes:
            _start(self._zygotes, HASH_SEED)  # not before: it is needed later

    def prepare_repetition(self) -> None:
        """Load pytest in the process of the other hash seed, too: the tests will run there."""
        if self._zygotes:
            with contextlib.suppress(SandboxError):  # raised again where it is used
                self._zygotes.get(hash_seed=HASH_SEED).load_pytest()

    def _open(self, settings: Settings) -> Sandbox:
        from greenloop.sandbox.factory import open_with_zygotes

        return open_with_zygotes(settings, self._zygotes)

    async def wait(self) -> Sandbox:
        """Return the sandbox once it is open. Raises SandboxError as `open_sandbox` does."""
        import asyncio

        return await asyncio.wrap_future(self._get_opened())

    def result(self) -> Sandbox:
        """Do as `wait`, and block until then."""
        return self._get_opened().result()

    def _get_opened(self) -> Future[Sandbox]:
        if self._opened is None:
            raise RuntimeError("the opening has not begun")
        return self._opened

    def __enter__(self) -> SandboxOpening:
        return self

    def __exit__(self, *_: object) -> None:
        if self._zygotes is not None and (self._opened is None or not self._opened.done()):
            self._zygotes.close()
        self._pool.shutdown()
        with contextlib.suppress(GreenloopError, CancelledError):
            if self._opened is not None:
                self._opened.result().close()


def start_zygotes(kind: str | None) -> ZygotePool | None:
    """Start processes of the backend that `kind` probably means; None where that is not known.

    None for `kind` means that of the environment.
    """
    kind = kind or os.environ.get("GREENLOOP_SANDBOX") or "auto"
    if sys.platform != "linux" or kind not in ("auto", "bubblewrap", "native"):
        return None
    backend = None if kind == "native" else create_bubblewrap_backend()
    if backend is None and kind != "bubblewrap":
        backend = create_native_backend()
    if backend is None:
        return None
    zygotes = ZygotePool(backend, build_guest_mounts())
    _start(zygotes, 0)
    return zygotes


def _start(zygotes: ZygotePool, hash_seed: int) -> None:
    with contextlib.suppress(SandboxError):  # raised again where the zygote is used
        zygotes.get(hash_seed=hash_seed).start()
