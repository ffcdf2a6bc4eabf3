"""From settings to a sandbox: what is asked for, or nothing."""

from __future__ import annotations

import sys

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox import open_sandbox, opening
from greenloop.sandbox.probe import check_wall
from greenloop.sandbox.process import ProcessSandbox
from greenloop.settings import Settings
from tests.sandbox.conftest import KINDS, made, why_not


def test_the_process_says_that_it_is_weak() -> None:
    with open_sandbox(Settings.load(sandbox="process")) as box:
        assert box.info.backend == "process"
        assert box.info.isolation.startswith("weak")


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")
def test_auto_takes_a_wall_that_holds() -> None:
    with open_sandbox(Settings.load()) as box:
        assert box.info.backend in ("bubblewrap", "native")
        assert box.info.isolation.startswith("strong")
        check_wall(box)


@pytest.mark.parametrize("kind", KINDS)
def test_every_wall_was_tried(kind: str) -> None:
    if reason := why_not(kind):
        pytest.skip(f"{kind} was not tried: {reason}")
    with made(kind) as box:
        check_wall(box)


def test_a_wall_that_does_not_hold_is_found_out() -> None:
    with ProcessSandbox() as box, pytest.raises(SandboxError, match="does not hold: reads"):
        check_wall(box)


def test_where_no_wall_holds_auto_is_weak_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_makers", lambda: {"native": lambda: None})
    with open_sandbox(Settings.load()) as box:
        assert box.info.isolation.startswith("weak")


@pytest.mark.parametrize("kind", ["fortress", "native"])
def test_a_kind_that_cannot_be_had_is_refused_not_replaced(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_makers", lambda: {"native": lambda: None})
    with pytest.raises(SandboxError, match=f"^--sandbox {kind}: "):
        open_sandbox(Settings.load(sandbox=kind))


def test_the_limits_are_those_of_the_settings() -> None:
    with open_sandbox(Settings.load(sandbox="process", timeout_s=0.5)) as box:
        run = box.run_tests("while True: pass", "from solution import f\ndef test_a(): pass")
    assert run.ending == "timeout"
    assert run.duration_s < 10
