"""A contract, a prompt, and an environment without the machine's own keys and settings."""

from __future__ import annotations

import os
import re
import socketserver
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from greenloop.prompts import Message, Prompt
from greenloop.records import Contract, Requirement

_FOREIGN = re.compile(
    r"^(OPENAI|ANTHROPIC|GREENLOOP|OLLAMA|LANGSMITH|LANGCHAIN|MAX_REPAIR|EXECUTION)|_PROXY$", re.I
)


@pytest.fixture(autouse=True)
def bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of this machine's, no `.env`, and nothing that `.env` loads outlives a test."""
    monkeypatch.chdir(tmp_path)
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if _FOREIGN.search(name)]:
            del os.environ[name]
        yield


@pytest.fixture(autouse=True)
def quick_shutdown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server looks every half second whether it shall end: too long for many tests."""
    monkeypatch.setattr(socketserver.BaseServer.serve_forever, "__defaults__", (0.01,))


@pytest.fixture
def contract() -> Contract:
    """Two names to define: a function and an exception."""
    return Contract(
        module="roman",
        summary="Roman numerals.",
        interface=(
            "class NotRoman(ValueError): ...\n"
            "def to_roman(number: int) -> str:\n"
            '    """Raises NotRoman."""\n'
            "    ...\n"
        ),
        requirements=(Requirement(id="R1", text="to_roman(1) is 'I'"),),
    )


@pytest.fixture
def prompt() -> Prompt:
    return Prompt("generate_code", (Message("system", "Write."), Message("user", "to_roman")))
