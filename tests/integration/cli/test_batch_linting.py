"""A batch lints with one server, which ends with it, however it ends."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from greenloop.autofix.ruff import LintResult
from greenloop.batch.executor import BatchConfig, LocalExecutor, LocalRunExecutor
from greenloop.settings import Settings
from tests.integration.cli.conftest import Run
from tests.integration.cli.test_batch import QUICK, ManySpecifications, write_specs
from tests.support.openai_server import OpenAIServer
from tests.support.started_processes import record_started


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[Any]]:
    """Record the processes of ruff that are started during the test."""
    return record_started(monkeypatch, lambda command: Path(command[0]).name == "ruff")


def list_actions(started: list[subprocess.Popen[Any]]) -> list[str]:
    """Return what each process was started for; it has ended."""
    assert all(process.returncode is not None for process in started)
    return [list(process.args)[1] for process in started]  # type: ignore[arg-type]


def test_a_batch_starts_one_server_and_leaves_none(
    run: Run, started: list[subprocess.Popen[Any]]
) -> None:
    write_specs(3)
    with OpenAIServer(ManySpecifications()) as server:
        command = ("batch", "specs", "-o", "src", "--json", "--quiet")
        status, out, err = run(*command, server=server, GREENLOOP_SANDBOX="none", **QUICK)
        assert (status, json.loads(out)["reached"]) == (0, 3), err
        assert list_actions(started) == ["server"]
        run(*command, server=server)  # nothing is left to do
        assert list_actions(started) == ["server"]


def test_a_single_run_starts_no_server(run: Run, started: list[subprocess.Popen[Any]]) -> None:
    write_specs(1)
    with OpenAIServer(ManySpecifications()) as server:
        command = ("make", "specs/top-0.md", "-o", "src/topk.py", "--quiet")
        status, _, err = run(*command, server=server, GREENLOOP_SANDBOX="none", **QUICK)
        assert status == 0, err
    assert list_actions(started) == ["check", "check"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
def test_the_server_ends_where_the_batch_breaks_off(
    monkeypatch: pytest.MonkeyPatch,
    started: list[subprocess.Popen[Any]],
    error: type[BaseException],
) -> None:
    monkeypatch.setattr("greenloop.batch.executor.open_sources", lambda _: [])

    async def work() -> None:
        async with LocalExecutor().open(BatchConfig(Settings(sandbox="none"))) as executor:
            assert isinstance(executor, LocalRunExecutor)
            assert executor.resources.lint("print(x)\n") == LintResult(("x",))
            assert [process.poll() for process in started] == [None]
            raise error

    with pytest.raises(error):
        asyncio.run(work())
    assert list_actions(started) == ["server"]
