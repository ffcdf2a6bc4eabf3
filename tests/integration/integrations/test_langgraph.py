"""greenloop in a graph and under an agent: the code of docs/hosts.md, on scripted models."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from greenloop.integrations.langgraph import make_node
from greenloop.integrations.result import RunResult
from greenloop.integrations.service import AgentService
from greenloop.settings import Settings
from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    contract_answer,
    fence,
    suite_answer,
)
from tests.support.reports import build_make_report
from tests.support.scripted import ScriptedModel

DOCS = Path(__file__).parents[3] / "docs" / "hosts.md"


def script() -> ScriptedModel:
    """A model that has each answer of a run once."""
    return ScriptedModel(
        answers={
            "parse_specification": [contract_answer()],
            "generate_code": [fence(GOOD_CODE)],
            "generate_tests": [suite_answer()],
            "review_code": ["LGTM"],
        }
    )


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    """What the Python blocks of the documentation define, one after the other."""
    names: dict[str, Any] = {"__name__": "documented"}
    for block in re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, str(DOCS), "exec"), names)
    return names


@pytest.fixture
def settings() -> Settings:
    return Settings(mutants=0, hardening_rounds=0, peer=False)


THREAD = {"configurable": {"thread_id": "one"}}


@pytest.mark.slow
def test_nothing_is_written_before_the_answer_and_nothing_made_twice_for_it(
    documented: dict[str, Any], settings: Settings, tmp_path: Path
) -> None:
    model, written = script(), tmp_path / "topk.py"
    graph = documented["build_graph"](settings, InMemorySaver(), model)
    state = {"specification": SPECIFICATION, "output": str(written)}

    async def stream() -> tuple[list[str], Any]:
        heard = [
            item async for item in graph.astream(state, THREAD, stream_mode=["custom", "updates"])
        ]
        lines = [told["greenloop"] for mode, told in heard if mode == "custom"]
        return lines, heard[-1][1]["__interrupt__"]

    lines, (asked,) = asyncio.run(stream())
    assert any(line.startswith("attempt") for line in lines)
    assert (asked.value["code"], asked.value["verdict"]) == (GOOD_CODE, "passed")
    assert not written.exists()
    calls = list(model.tools)
    asyncio.run(graph.ainvoke(Command(resume="yes"), THREAD))
    assert (model.tools, model.unused) == (calls, {})
    assert written.read_text() == GOOD_CODE
    assert "def test_" in (tmp_path / "test_topk.py").read_text()


def test_a_node_that_is_run_again_pays_for_nothing_twice_and_a_no_writes_nothing(
    documented: dict[str, Any], settings: Settings, tmp_path: Path
) -> None:
    model, written = script(), tmp_path / "topk.py"
    state = {"specification": SPECIFICATION, "output": str(written)}
    for _ in range(2):  # the second one has lost its checkpoints: as after a crash in the node
        graph = documented["build_graph"](settings, InMemorySaver(), model)
        (asked,) = asyncio.run(graph.ainvoke(state, THREAD))["__interrupt__"]
        assert asked.value["code"] == GOOD_CODE
    assert len(model.tools) == 4
    asyncio.run(graph.ainvoke(Command(resume="no"), THREAD))
    assert not written.exists()


@pytest.mark.slow
def test_the_example_runs_to_its_end(
    documented: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GREENLOOP_MUTANTS", "0")
    monkeypatch.setenv("GREENLOOP_HARDENING_ROUNDS", "0")
    written = tmp_path / "topk.py"
    asyncio.run(documented["main"](SPECIFICATION, str(written), script()))
    assert written.read_text() == GOOD_CODE


def test_nodes_with_another_project_or_model_have_a_run_of_their_own(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = AsyncMock(run=AsyncMock(return_value=build_make_report()))
    monkeypatch.setattr(AgentService, "create_agent", AsyncMock(return_value=agent))
    projects = [tmp_path / "a", tmp_path / "b"]
    for project in projects:
        project.mkdir()
        (project / "pyproject.toml").touch()
    places = [*({"project": item} for item in projects), {}, {"model": script()}]
    changes = ({}, {"profile": "small"}, {"max_tokens": 9})  # a budget is no other task
    for changed in (settings.model_copy(update=item) for item in changes):
        for place in places:
            asyncio.run(make_node(changed, **place)({"specification": "Sort a list"}, THREAD))
    assert len({call.args[1] for call in agent.run.call_args_list}) == 8


class Caller(GenericFakeChatModel):
    """A scripted chat model that tools can be given to."""

    def bind_tools(self, tools: Any, **_: Any) -> "Caller":
        return self


def stream_messages(*specifications: str) -> Iterator[AIMessage]:
    for number, text in enumerate(specifications):
        call = {"name": "make_tested_code", "args": {"specification": text}, "id": str(number)}
        yield AIMessage("", tool_calls=[call])
    yield AIMessage("done")


@pytest.mark.slow
def test_an_agent_is_given_tested_code_and_told_what_broke_off(
    documented: dict[str, Any], settings: Settings
) -> None:
    chat = Caller(messages=stream_messages(" ", SPECIFICATION))
    agent = documented["build_agent"](chat, settings, script())
    ended = asyncio.run(agent.ainvoke({"messages": [("user", "I need top_k")]}))
    refused, made = (item for item in ended["messages"] if isinstance(item, ToolMessage))
    assert (refused.status, "empty" in refused.content) == ("error", True)
    assert json.loads(made.content)["code"] == GOOD_CODE
    assert isinstance(made.artifact, RunResult)
    assert made.artifact.verdict == "passed"


@pytest.mark.slow
def test_a_blocking_agent_gets_it_too(documented: dict[str, Any], settings: Settings) -> None:
    agent = documented["build_agent"](
        Caller(messages=stream_messages(SPECIFICATION)), settings, script()
    )
    ended = agent.invoke({"messages": [("user", "I need top_k")]})
    (made,) = (item for item in ended["messages"] if isinstance(item, ToolMessage))
    assert json.loads(made.content)["verdict"] == "passed"
