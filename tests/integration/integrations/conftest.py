"""`greenloop mcp` as a host starts it, and a model server that waits where a test tells it to."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenloop import events as e
from greenloop.tracing.setup import trace_run
from tests.support.model_responses import GOOD_CODE, contract_answer, fence, suite_answer
from tests.support.openai_server import OpenAIServer, Reply, tool_of

KEY = "sk-test-0123456789abcdefghijklmnop"
QUICK = {"GREENLOOP_MUTANTS": "0", "GREENLOOP_HARDENING_ROUNDS": "0", "GREENLOOP_PEER": "0"}
HUNG_S = 180  # whatever takes longer than this is not slow: it hangs


class Model:
    """Answers each tool well. `held` keeps a tool's answer back until `release` is set."""

    def __init__(self) -> None:
        self.reset()

    def __call__(self, request: dict[str, Any]) -> Reply:
        tool = tool_of(request)
        if self.refuse is not None:
            return Reply(self.refuse, status=401)
        if barrier := self.held.get(tool):
            barrier.wait(HUNG_S)
            self.asked.set()
            self.release.wait(HUNG_S)
        return Reply(self.answers[tool])

    def reset(self) -> None:
        self.held: dict[str, threading.Barrier] = {}
        self.refuse: str | None = None
        self.answers = {
            "parse_specification": contract_answer(),
            "generate_code": fence(GOOD_CODE),
            "generate_tests": suite_answer(),
            "review_code": "LGTM",
        }
        self.asked, self.release = threading.Event(), threading.Event()

    def hold(self, tool: str, calls: int = 1) -> None:
        """Keeps the answers back, once so many calls of the tool have come together."""
        self.held[tool] = threading.Barrier(calls)


@pytest.fixture(scope="module")
def model_server() -> Iterator[OpenAIServer]:
    with OpenAIServer(Model()) as server:
        yield server


@pytest.fixture
def model(model_server: OpenAIServer) -> Iterator[Model]:
    """What the model server does in this test; nothing stays held behind it."""
    model = model_server.respond
    assert isinstance(model, Model)
    model.reset()
    yield model
    model.release.set()


@pytest.fixture(scope="module")
def environment(model_server: OpenAIServer) -> dict[str, str]:
    """Of a server whose model is the local one."""
    return {
        "GREENLOOP_MODEL": "openai:served",
        "OPENAI_BASE_URL": model_server.url,
        "OPENAI_API_KEY": KEY,
        "PATH": "/usr/bin:/bin",
        "EXECUTION_TIMEOUT_SECONDS": "3000",
        **QUICK,
    }


@pytest.fixture(scope="module")
def http_server(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The address of `greenloop mcp --http`, and the folder that it works in."""
    folder = tmp_path_factory.mktemp("http")
    command = [sys.executable, "-m", "greenloop", "mcp", "--http", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        yield found[0], folder
        process.terminate()
        assert process.wait(HUNG_S) in (0, 130)


def collect_events(*events: e.Event) -> list[e.Event]:
    """Emits them as a run does; what a listener hears."""
    heard: list[e.Event] = []

    async def emit_all() -> None:
        async with trace_run(heard.append) as emit:
            for event in events:
                emit(event)

    asyncio.run(emit_all())
    return heard
