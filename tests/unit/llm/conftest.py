"""Fixtures: a contract, a prompt, and an environment without the machine's settings."""

import os
import re
import socketserver
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from greenloop.prompts import Message, Prompt
from greenloop.records import Contract, Requirement

_MACHINE_SETTINGS = re.compile(
    r"^(OPENAI|ANTHROPIC|GREENLOOP|OLLAMA|LANGSMITH|LANGCHAIN|MAX_REPAIR|EXECUTION)|_PROXY$", re.I
)


@pytest.fixture(autouse=True)
def bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove this machine's settings, and what a test loads from `.env`."""
    monkeypatch.chdir(tmp_path)
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if _MACHINE_SETTINGS.search(name)]:
            del os.environ[name]
        yield


@pytest.fixture(autouse=True)
def quick_shutdown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll for the shutdown of local servers more often than every half second."""
    monkeypatch.setattr(socketserver.BaseServer.serve_forever, "__defaults__", (0.01,))


@pytest.fixture
def contract() -> Contract:
    """Return a contract with a function and an exception."""
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
