"""Fixture that runs the agent on a scripted model and a sandbox that answers from a table."""

from pathlib import Path

import pytest

from tests.support.fake_sandbox import FakeSandbox
from tests.support.workflow_runs import RunWorkflow, create_runner

# Which tests fail with the modules of `model_responses` and of the tests here.
TABLE = {
    "k must not be negative": ("test_wrong", "test_too", "test_mine", "test_specification*"),
    "return sorted(xs)[:k]": ("test_largest_first", "test_m*", "test_negative"),
    "return sorted(xs, reverse=True)[:k]": ("test_negative", "test_wrong", "test_mine"),
    "return None": ("test_largest_first", "test_m*", "test_wrong"),
    **{f"return [{n}]": ("*",) for n in range(10, 30)},
    "": ("test_[!l]*", "test_largest_first"),  # what raises everywhere
}


@pytest.fixture(autouse=True)
def run_workflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunWorkflow:
    # ruff would be a process: without it nothing is fixed before the tests.
    monkeypatch.setattr("greenloop.autofix.ruff.run_tool", lambda *_, **__: None)
    return create_runner(FakeSandbox(TABLE), tmp_path / "home")
