"""The main job through the real command line and the real sandbox, in a copy of the examples."""

import shutil
from pathlib import Path

import pytest

from tests.support.command_line import run

__all__ = ["run"]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Copy the examples to the working folder; a busy machine gets more time than a user waits."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path / "examples"


@pytest.fixture(autouse=True)
def generous_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set time limits that no busy machine reaches."""
    monkeypatch.setenv("EXECUTION_TIMEOUT_SECONDS", "120")
    monkeypatch.setenv("GREENLOOP_GRADING_SECONDS", "600")
