"""What is remembered of an ordinary test in the self-check of a sandbox."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.records import SandboxInfo
from greenloop.sandbox import check_memory
from greenloop.sandbox.check_memory import CheckMemory
from greenloop.sandbox.limits import ResourceLimits

LINUX_ONLY = pytest.mark.skipif(
    not Path("/proc/sys/kernel/random/boot_id").exists(), reason="Linux tells a boot from another"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def guest_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "guest.py"
    path.write_text("x = 1\n")
    monkeypatch.setattr(check_memory, "_list_files", lambda: iter([path]))
    return path


def create(backend: str = "native", limits: ResourceLimits | None = None) -> CheckMemory:
    info = SandboxInfo(backend=backend, isolation="strong")
    box: Any = SimpleNamespace(info=info, limits=limits or ResourceLimits())
    return CheckMemory(box)


@LINUX_ONLY
def test_what_has_passed_is_remembered() -> None:
    assert not create().has_passed()
    create().note_passed()
    assert create().has_passed()


@LINUX_ONLY
def test_another_kind_and_other_limits_have_not_passed() -> None:
    create().note_passed()
    assert not create("bubblewrap").has_passed()
    assert not create(limits=ResourceLimits(memory_bytes=1 << 20)).has_passed()


@LINUX_ONLY
def test_what_runs_there_has_changed(guest_file: Path) -> None:
    create().note_passed()
    assert create().has_passed()
    os.utime(guest_file, ns=(0, 0))
    assert not create().has_passed()


@LINUX_ONLY
def test_the_machine_was_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create().note_passed()
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("another")
    monkeypatch.setattr(check_memory, "_BOOT_ID", boot_id)
    assert not create().has_passed()


def test_a_backend_that_may_run_another_python_is_never_remembered() -> None:
    create("container").note_passed()
    assert not create("container").has_passed()


def test_nothing_depends_on_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache / "file"
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    create().note_passed()
    assert not create().has_passed()
