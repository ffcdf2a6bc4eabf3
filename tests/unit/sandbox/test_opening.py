"""A sandbox that is opened beside other work."""

from __future__ import annotations

import asyncio
import sys

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.opening import SandboxOpening
from greenloop.sandbox.warm.zygote_process import ZygoteProcess
from greenloop.settings import Settings


def test_what_was_opened_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []
    monkeypatch.setattr(ProcessSandbox, "close", lambda box: closed.append(box))
    with SandboxOpening("none") as opening:
        opening.begin(Settings.model_construct(sandbox="none"))
        box = asyncio.run(opening.wait())
    assert closed == [box]


def test_an_error_is_raised_where_the_sandbox_is_needed() -> None:
    settings = Settings.model_construct(sandbox="no-such-kind")
    with SandboxOpening("no-such-kind") as opening:
        opening.begin(settings)
    with SandboxOpening() as opening:
        opening.begin(settings)
        with pytest.raises(SandboxError, match="no such sandbox"):
            asyncio.run(opening.wait())


@pytest.mark.skipif(sys.platform != "linux", reason="no process is started early elsewhere")
@pytest.mark.parametrize("used", [True, False])
def test_an_early_process_is_used_or_ended(monkeypatch: pytest.MonkeyPatch, used: bool) -> None:
    started: list[ZygoteProcess] = []

    def start(self: ZygoteProcess, backend: Backend, mounts: GuestMounts) -> None:
        started.append(self)
        start_process(self, backend, mounts)

    start_process = ZygoteProcess.__init__
    monkeypatch.setattr(ZygoteProcess, "__init__", start)
    with SandboxOpening() as opening:
        assert len(started) == 1
        opening.begin(Settings.model_construct(sandbox="auto" if used else "none"))
        box = asyncio.run(opening.wait())
        assert box.run_tests(
            "x = 1\n", "from m import x\ndef test_x():\n    assert x == 1\n", module="m"
        ).passed
    assert started[0].is_dead()
    assert (started[0].runs > 0) == used


def test_nothing_is_left_of_an_opening_that_never_began() -> None:
    with SandboxOpening():
        pass
