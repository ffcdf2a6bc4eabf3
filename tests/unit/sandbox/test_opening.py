"""A sandbox that is opened beside other work."""

from __future__ import annotations

import asyncio

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.opening import SandboxOpening
from greenloop.settings import Settings


def test_what_was_opened_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []
    monkeypatch.setattr(ProcessSandbox, "close", lambda box: closed.append(box))
    with SandboxOpening(Settings.model_construct(sandbox="none")) as opening:
        box = asyncio.run(opening.wait())
    assert closed == [box]


def test_an_error_is_raised_where_the_sandbox_is_needed() -> None:
    with SandboxOpening(Settings.model_construct(sandbox="no-such-kind")):
        pass
    with (
        SandboxOpening(Settings.model_construct(sandbox="no-such-kind")) as opening,
        pytest.raises(SandboxError, match="no such sandbox"),
    ):
        asyncio.run(opening.wait())
