"""A sandbox that is opened beside other work."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from greenloop.errors import SandboxError, SettingsError
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.factory import open_with_zygotes
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.opening import SandboxOpening, start_zygotes
from greenloop.sandbox.warm.zygote_process import ZygoteProcess
from greenloop.settings import Settings

LINUX_ONLY = pytest.mark.skipif(
    sys.platform != "linux", reason="no process is started early elsewhere"
)


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


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ZygoteProcess]:
    """The processes that are started."""
    found: list[ZygoteProcess] = []

    def start(self: ZygoteProcess, backend: Backend, mounts: GuestMounts) -> None:
        found.append(self)
        start_process(self, backend, mounts)

    start_process = ZygoteProcess.__init__
    monkeypatch.setattr(ZygoteProcess, "__init__", start)
    return found


@LINUX_ONLY
@pytest.mark.parametrize("used", [True, False])
def test_an_early_process_is_used_or_ended(started: list[ZygoteProcess], used: bool) -> None:
    with SandboxOpening() as opening:
        assert len(started) == 1
        opening.begin(Settings.model_construct(sandbox="auto" if used else "none"))
        box = asyncio.run(opening.wait())
        assert box.run_tests(
            "x = 1\n", "from m import x\ndef test_x():\n    assert x == 1\n", module="m"
        ).passed
    assert started[0].is_dead()
    assert (started[0].runs > 0) == used


@LINUX_ONLY
def test_an_early_process_is_ended_where_the_settings_are_wrong(
    started: list[ZygoteProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXECUTION_TIMEOUT_SECONDS", "soon")
    with pytest.raises(SettingsError):
        open_sandbox()
    assert [item.is_dead() for item in started] == [True]


@LINUX_ONLY
def test_an_early_process_of_another_kind_is_ended(started: list[ZygoteProcess]) -> None:
    settings = Settings.load(sandbox="native")
    zygotes = start_zygotes("native")
    open_with_zygotes(settings.model_copy(update={"sandbox": "none"}), zygotes).close()
    assert [item.is_dead() for item in started] == [True]


def test_nothing_is_left_of_an_opening_that_never_began() -> None:
    with SandboxOpening():
        pass


@LINUX_ONLY
def test_pytest_is_loaded_for_the_other_hash_seed_however_late(
    started: list[ZygoteProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = "from m import x\n\n\ndef test_x():\n    assert x == 1\n"
    with SandboxOpening() as opening:
        opening.begin(Settings.model_construct(sandbox="auto"))
        box = asyncio.run(opening.wait())
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + 3600)
        assert box.run_tests("x = 1\n", tests, module="m", hash_seed=HASH_SEED).passed
    assert len(started) == 2
