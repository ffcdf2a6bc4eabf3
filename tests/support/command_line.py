"""The command line in this process, and a server that answers by tool."""

from collections.abc import Callable
from typing import Any

import pytest

from greenloop.cli.main import app
from tests.support.openai_server import OpenAIServer, Reply, tool_of

KEY = "sk-test-0123456789abcdefghijklmnop"
# Only what a run needs for `passed`.
QUICK = {"GREENLOOP_MUTANTS": "0", "GREENLOOP_HARDENING_ROUNDS": "0", "GREENLOOP_PEER": "0"}
Run = Callable[..., tuple[int, str, str]]


class Served:
    """Answers by tool, in order, with faults played before the first answers."""

    def __init__(self, by_tool: dict[str, list[Any]], faults: list[Reply] | None = None) -> None:
        self._by_tool = {tool: list(items) for tool, items in by_tool.items()}
        self._faults = list(faults or [])

    def __call__(self, request: dict[str, Any]) -> Reply:
        if self._faults:
            return self._faults.pop(0)
        waiting = self._by_tool[tool_of(request)]
        if not waiting:
            return Reply(f"no answer left for {tool_of(request)}", status=400)
        answer = waiting.pop(0)
        return answer if isinstance(answer, Reply) else Reply(answer)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs `greenloop` with arguments; exit status, standard output, standard error."""

    def call(*arguments: str, server: OpenAIServer | None = None, **environment: str) -> Any:
        monkeypatch.setenv("GREENLOOP_MODEL_BACKOFF", "0")
        if server is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            app(list(arguments), prog_name="greenloop")
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call
