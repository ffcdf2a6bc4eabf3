"""From the settings to a sandbox: never weaker than asked for."""

from __future__ import annotations

from greenloop.errors import SandboxError
from greenloop.sandbox.box import Sandbox
from greenloop.sandbox.process import Limits, ProcessSandbox
from greenloop.settings import Settings

KINDS = ("auto", "process")


def open_sandbox(settings: Settings | None = None) -> Sandbox:
    """The sandbox that the settings ask for; `auto` is the strongest that can be had here.

    Raises:
        SandboxError: no sandbox of that kind can be had.
    """
    settings = settings or Settings.load()
    if settings.sandbox not in KINDS:
        raise SandboxError(
            f"--sandbox {settings.sandbox}: no such sandbox can be had here; "
            f"this version has: {', '.join(KINDS)}"
        )
    limits = Limits(
        timeout_s=settings.timeout_s,
        memory_bytes=settings.memory_mb * 1024 * 1024,
        output_bytes=settings.output_kb * 1024,
    )
    return ProcessSandbox(limits)
