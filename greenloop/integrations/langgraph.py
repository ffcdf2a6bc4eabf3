"""A LangGraph node and a LangChain tool that make tested code."""

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from greenloop.events import EventSink
from greenloop.integrations.mcp.progress import forward_progress
from greenloop.integrations.result import RunResult, build_run_result
from greenloop.integrations.service import AgentService
from greenloop.llm.chat import ChatSource
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.tools.building import build_tool
from greenloop.workflow.storage.request import RunRequest, digest, select_deciding_options
from greenloop.workflow.storage.run_dir import RunDirectory

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


__all__ = ["NodeOutput", "make_node", "make_tool"]


class NodeOutput(TypedDict, total=False):
    """Keys of a graph's state that the node sets; plain values, which checkpoints can store."""

    code: str
    tests: str
    verdict: str
    reasons: list[str]
    run_dir: str


GraphNode = Callable[..., Awaitable[NodeOutput]]
StreamWriter = Callable[[Any], None]  # LangGraph passes it to a parameter named `writer`


def make_node(
    settings: Settings | None = None,
    *,
    model: "BaseChatModel | None" = None,
    project: Path | None = None,
) -> GraphNode:
    """Return an asynchronous node that makes tested code of the state's `specification`.

    With `project`, the folder of a project, the specification is a wish as for `greenloop change`,
    and `code` is the patch.

    The run's directory depends on the thread, the specification, the project, the model and the
    settings without budgets: a node that runs again after a crash or an interrupt continues its run
    and pays for no answer twice. In the stream mode
    `custom`, each line of progress is `{"greenloop": line}`.

    Raises:
        GreenloopError: by the node, when the run ended early.
    """
    service = _create_service(settings, model)
    place = str(project.absolute()) if project else ""
    node = [place, _describe_model(model), select_deciding_options(service.settings)]

    async def make(
        state: Mapping[str, Any], config: RunnableConfig, writer: StreamWriter = lambda _line: None
    ) -> NodeOutput:
        async def write_line(_number: int, line: str) -> None:
            writer({"greenloop": line})

        thread = config.get("configurable", {}).get("thread_id")
        async with forward_progress(write_line) as emit:
            text = str(state["specification"])
            request = service.build_change(text, project) if project else text
            key = json.dumps([thread, text, *node], default=str) if thread else ""
            return await _run_node(service, emit, request, key)

    return make


async def _run_node(
    service: AgentService, emit: EventSink, request: str | RunRequest, key: str
) -> NodeOutput:
    agent = await service.create_agent(emit)
    if not key:  # without checkpoints there is nothing to resume
        return _to_node_output(await agent.run(request))
    directory = RunDirectory(service.settings.home / "runs" / f"graph-{digest(key)[:16]}")
    if directory.request_file.exists():
        return _to_node_output(await agent.resume(directory))
    return _to_node_output(await agent.run(request, directory.path))


def _create_service(settings: Settings | None, model: "BaseChatModel | None") -> AgentService:
    sources = [ChatSource(type(model).__name__, model)] if model else []
    return AgentService(settings or Settings.load(), sources)


def _describe_model(model: "BaseChatModel | None") -> str:
    """Return class and name of a given model; the settings name the others."""
    names = (getattr(model, name, None) for name in ("model_name", "model"))
    return f"{type(model).__name__} {next(filter(None, names), '')}"


def _to_node_output(report: Report) -> NodeOutput:
    return NodeOutput(
        code=report.final_code,
        tests=report.test_code,
        verdict=report.verdict,
        reasons=list(report.reasons),
        run_dir=report.artifacts.run_dir or "",
    )


def make_tool(
    settings: Settings | None = None, *, model: "BaseChatModel | None" = None
) -> BaseTool:
    """Return a tool, `make_tested_code`, for an agent: each call is one run.

    The agent gets the result as JSON. The tool message's artifact is a `RunResult`, or a dict after
    a checkpoint on disk. Errors that end a run are returned to the agent. Concurrent calls share
    one sandbox.
    """
    service = _create_service(settings, model)

    async def make_tested_code(
        specification: Annotated[str, "what one Python module is to do, in plain language"],
        module: Annotated[str | None, "the module's name, if it is fixed"] = None,
        tests: Annotated[str | None, "a pytest file that the module has to pass"] = None,
    ) -> tuple[str, RunResult]:
        """Write a Python module from a specification, with tests that were written without seeing
        it, run and graded. Takes minutes. Writes no file: the answer holds code, tests, verdict."""
        report = await service.make(specification, module, tests)
        answer = build_run_result(report, service.settings.require)
        return answer.model_dump_json(), answer

    return build_tool(
        make_tested_code, response_format="content_and_artifact", handle_tool_error=True
    )
