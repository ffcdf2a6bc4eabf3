"""Isolation of all tests from this machine: no key, model or setting of the developer is read."""

import os
import signal
from pathlib import Path

import pytest

_READ_PREFIXES = (
    "OPENAI_",
    "GREENLOOP_",
    "ANTHROPIC_",
    "LANGSMITH_",
    "LANGCHAIN_",
    "LANGFUSE_",
    "OTEL_",
    "OLLAMA_",
    "MAX_REPAIR",
    "EXECUTION_",
    "VIRTUAL_ENV",
    "CONDA_",
)


def pytest_configure() -> None:
    """Let Ctrl-C interrupt what the tests start, where this run itself was started with nohup or `&`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use all processors; as an option of the project it would bind the modules that users write here."""
    is_worker = hasattr(config, "workerinput")
    if getattr(config.option, "numprocesses", 0) is None and not is_worker:
        vars(config.option).update(numprocesses="logical", maxprocesses=8, dist="worksteal")


@pytest.fixture(autouse=True)
def clean_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to an empty folder (so no `.env`) and remove the variables that settings are read from."""
    for name in list(os.environ):
        if name.startswith(_READ_PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")  # a port on which nothing listens
    monkeypatch.chdir(tmp_path)
