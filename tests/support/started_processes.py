"""Processes that a test starts."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest


def record_started(
    monkeypatch: pytest.MonkeyPatch, is_recorded: Callable[[list[str]], bool]
) -> list[subprocess.Popen[Any]]:
    """Return a list to which each process is added from now on whose command is to be recorded."""
    seen: list[subprocess.Popen[Any]] = []

    class Recording(subprocess.Popen[Any]):
        def __init__(self, command: list[str], **options: Any) -> None:
            super().__init__(command, **options)
            if is_recorded(command):
                seen.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recording)
    return seen
