"""The tools as other agents use them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, ToolException

import greenloop.tools as greenloop_tools
from greenloop.records import Contract, Review, TestRun
from greenloop.records.generation import (
    DifferenceRuling,
    GeneratedCode,
    GeneratedPeer,
    GeneratedTests,
    Judgement,
    Repair,
)
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.tools import coding_tools
from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    WRONG_CODE,
    answers,
    fence,
    rulings_answer,
)
from tests.support.scripted import ScriptedModel
from tests.support.wheels import only_wheels_of, wheel

NAMES = [
    "parse_specification",
    "generate_code",
    "generate_tests",
    "review_code",
    "run_tests",
    "repair_code",
    "judge_test",
    "write_peer",
    "judge_difference",
]
JUDGEMENT = fence('{"wrong": "test", "because": "R1"}', "json")


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox(Settings()) as opened:
        yield opened


def tools(box: Sandbox, **changes: list[Any]) -> dict[str, BaseTool]:
    script = answers(
        repair_code=[fence(GOOD_CODE)],
        judge_test=[JUDGEMENT],
        judge_difference=[rulings_answer(("first", None))],
        **changes,
    )
    script["parse_specification"] *= 7  # a tool that is given plain text makes its contract first
    model = ScriptedModel(answers=script)
    return {item.name: item for item in coding_tools(model, box, Settings())}


ARGUMENTS: dict[str, tuple[dict[str, Any], type]] = {
    "parse_specification": ({"specification": SPECIFICATION}, Contract),
    "generate_code": ({"specification": SPECIFICATION}, GeneratedCode),
    "generate_tests": ({"specification": SPECIFICATION}, GeneratedTests),
    "review_code": ({"specification": SPECIFICATION, "code": GOOD_CODE}, Review),
    "run_tests": ({"code": GOOD_CODE, "tests": GOOD_TESTS}, TestRun),
    "repair_code": (
        {"specification": SPECIFICATION, "code": WRONG_CODE, "failures": "assert [1] == [3]"},
        Repair,
    ),
    "write_peer": ({"specification": SPECIFICATION}, GeneratedPeer),
    "judge_difference": (
        {"specification": SPECIFICATION, "call": "top_k([], 1)", "first": "[]", "second": "None"},
        DifferenceRuling,
    ),
    "judge_test": (
        {"specification": SPECIFICATION, "test_source": "def test_a(): …", "claim": "no"},
        Judgement,
    ),
}


def test_the_nine_tools(box: Sandbox) -> None:
    assert list(tools(box)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_works_alone_and_gives_a_typed_result(box: Sandbox, name: str) -> None:
    arguments, kind = ARGUMENTS[name]
    assert isinstance(tools(box)[name].invoke(arguments), kind)
    assert isinstance(asyncio.run(tools(box)[name].ainvoke(arguments)), kind)


def test_run_tests_installs_what_is_imported_and_allowed(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_wheels_of(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel(tmp_path, "toolz", {"toolz.py": "first = min\n"})
    code = "import toolz\n\n\ndef least(xs):\n    return toolz.first(xs)\n"
    test = (
        "from less import least\nimport toolz\n\ndef test_least():\n    assert least([2, 1]) == 1\n"
    )
    run = tools(box)["run_tests"].invoke({"code": code, "tests": test})
    assert run.passed, run


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_arguments_have_descriptions(box: Sandbox, name: str) -> None:
    tool = tools(box)[name]
    assert len(tool.description) > 40
    for argument in tool.args.values():
        assert argument.get("description"), argument


def test_generate_code_takes_plain_text(box: Sandbox) -> None:
    assert tools(box)["generate_code"].invoke(SPECIFICATION).code.strip() == GOOD_CODE.strip()


def test_contract_is_taken_as_record_dict_and_text(box: Sandbox) -> None:
    contract = tools(box)["parse_specification"].invoke(SPECIFICATION)
    for form in (contract, contract.model_dump(), str(contract)):
        kit = tools(box, parse_specification=[])
        assert kit["generate_code"].invoke({"specification": form}).code


def test_tool_call_returns_readable_text(box: Sandbox) -> None:
    call = {"type": "tool_call", "id": "1", "name": "run_tests"}
    arguments = {"code": WRONG_CODE, "tests": GOOD_TESTS}
    message = tools(box)["run_tests"].invoke({**call, "args": arguments})
    assert isinstance(message, ToolMessage)
    assert str(message.content).startswith("NOT PASSED: 0 passed, 3 failed")
    assert "assert [1, 2] == [3, 2]" in message.content


def test_invoke_works_in_a_running_event_loop(box: Sandbox) -> None:
    async def notebook() -> TestRun:
        run: TestRun = tools(box)["run_tests"].invoke(ARGUMENTS["run_tests"][0])
        return run

    assert asyncio.run(notebook()).passed


def test_failing_tool_raises_tool_exception(box: Sandbox) -> None:
    kit = tools(box, parse_specification=["no contract", "none again"])
    with pytest.raises(ToolException, match="parse_specification: the model answered twice"):
        kit["parse_specification"].invoke(SPECIFICATION)


def test_default_tools_are_created_on_access() -> None:
    assert greenloop_tools.run_tests.invoke(ARGUMENTS["run_tests"][0]).passed
    with pytest.raises(ToolException, match="no model is configured"):
        greenloop_tools.generate_code.invoke(SPECIFICATION)
    with pytest.raises(AttributeError, match="no_such_tool"):
        _ = greenloop_tools.no_such_tool  # type: ignore[attr-defined]


def test_root_modules_reexport_the_same_objects() -> None:
    from agent import CodingAgent, run_coding_agent
    from cli import main
    from greenloop.agent import CodingAgent as Same
    from tools import generate_code, run_tests

    assert CodingAgent is Same
    assert callable(run_coding_agent)
    assert callable(main)
    assert [generate_code.name, run_tests.name] == ["generate_code", "run_tests"]


class Agent(BaseChatModel):
    """A model that calls run_tests once and then says what it read."""

    @property
    def _llm_type(self) -> str:
        return "agent"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            said = AIMessage(f"I read: {last.content}")
        else:
            call = {"name": "run_tests", "args": ARGUMENTS["run_tests"][0], "id": "1"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


def test_in_a_langchain_agent(box: Sandbox) -> None:
    agent = create_agent(Agent(), [tools(box)["run_tests"]])
    ended = agent.invoke({"messages": [("user", "test it")]})
    assert ended["messages"][-1].content == "I read: PASSED: 3 passed, 0 failed, 0 errors"
