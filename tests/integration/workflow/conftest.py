"""Fixture that runs the agent on a scripted model and a real sandbox, and keeps its events."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from tests.support.caching_sandbox import RememberingSandbox
from tests.support.workflow_runs import RunWorkflow, create_runner


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """Open one sandbox for all runs: they are isolated from each other."""
    with open_sandbox(Settings(timeout_s=30)) as opened:
        yield RememberingSandbox(opened)


@pytest.fixture
def run_workflow(tmp_path: Path, box: Sandbox) -> RunWorkflow:
    return create_runner(box, tmp_path / "home")
