"""A sandbox that is opened beside other work."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import CancelledError, ThreadPoolExecutor

from greenloop.errors import GreenloopError
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.factory import open_sandbox
from greenloop.settings import Settings


class SandboxOpening:
    """Opens a sandbox in a thread from its construction on; a context manager closes it.

    A process with pytest takes half a second to start, in which a command can import its modules.
    """

    def __init__(self, settings: Settings) -> None:
        self._pool = ThreadPoolExecutor(1, "opening")
        self._opened = self._pool.submit(open_sandbox, settings)

    async def wait(self) -> Sandbox:
        """Return the sandbox once it is open. Raises SandboxError as `open_sandbox` does."""
        return await asyncio.wrap_future(self._opened)

    def __enter__(self) -> SandboxOpening:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
        with contextlib.suppress(GreenloopError, CancelledError):
            self._opened.result().close()
