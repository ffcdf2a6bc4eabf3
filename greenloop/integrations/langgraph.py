"""greenloop in LangGraph and LangChain: as a node of a graph, and as a tool that an agent calls."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import (
    BaseTool,
    StructuredTool,
    ToolException,
    create_schema_from_function,
)

from greenloop.errors import GreenloopError
from greenloop.events import EventSink
from greenloop.integrations.mcp.progress import forward_progress
from greenloop.integrations.result import RunResult, build_run_result
from greenloop.integrations.service import AgentService
from greenloop.llm.chat import ChatSource
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.tools.langchain import run_in_any_thread
from greenloop.workflow.storage.request import digest
from greenloop.workflow.storage.run_dir import RunDirectory

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class NodeOutput(TypedDict, total=False):
    """Keys of a graph's state that the node sets; all are plain values, as checkpoints want them."""

    code: str
    tests: str
    verdict: str
    reasons: list[str]
    run_dir: str


GraphNode = Callable[..., Awaitable[NodeOutput]]
StreamWriter = Callable[[Any], None]  # as LangGraph's; it finds the parameter by this very name


def make_node(settings: Settings | None = None, *, model: BaseChatModel | None = None) -> GraphNode:
    """An asynchronous node that makes tested code of the state's `specification`.

    The run's directory is told by the thread and the specification: a node that is run again, after
    a crash or an interrupt in it, goes on with its run and pays for no answer twice. A run that
    breaks off raises its GreenloopError. Whoever streams `custom` gets the lines of its progress,
    each as `{"greenloop": line}`.
    """
    bench = _create_service(settings, model)

    async def make(
        state: Mapping[str, Any], config: RunnableConfig, writer: StreamWriter = _discard_progress
    ) -> NodeOutput:
        async def tell(_number: int, line: str) -> None:
            writer({"greenloop": line})

        thread = config.get("configurable", {}).get("thread_id")
        async with forward_progress(tell) as emit:
            return await _run_node(bench, emit, str(state["specification"]), thread)

    return make


def _discard_progress(_line: object) -> None:
    return


async def _run_node(
    service: AgentService, emit: EventSink, specification: str, thread: object
) -> NodeOutput:
    agent = await service.create_agent(emit)
    if thread is None:  # nothing is checkpointed: there is nothing to go on with
        return _to_node_output(await agent.run(specification))
    name = digest(f"{thread}\n{specification}")[:16]
    directory = RunDirectory(service.settings.home / "runs" / f"graph-{name}")
    if directory.request_file.exists():
        return _to_node_output(await agent.resume(directory))
    return _to_node_output(await agent.run(specification, directory.path))


def _create_service(settings: Settings | None, model: BaseChatModel | None) -> AgentService:
    sources = [ChatSource(type(model).__name__, model)] if model else []
    return AgentService(settings or Settings.load(), sources)


def _to_node_output(report: Report) -> NodeOutput:
    return NodeOutput(
        code=report.final_code,
        tests=report.test_code,
        verdict=report.verdict,
        reasons=list(report.reasons),
        run_dir=report.artifacts.run_dir or "",
    )


def make_tool(settings: Settings | None = None, *, model: BaseChatModel | None = None) -> BaseTool:
    """A tool, `make_tested_code`, for an agent: one whole run of greenloop at each call.

    The agent reads the answer as JSON; the tool message's artifact is it as `Answer`, or as a dict
    once it has been in a checkpoint on disk. What breaks a run off is told to the agent. Calls may
    come side by side: they share one sandbox.
    """
    bench = _create_service(settings, model)

    async def awaited(
        specification: Annotated[str, "what one Python module is to do, in plain language"],
        module: Annotated[str | None, "the module's name, if it is fixed"] = None,
        tests: Annotated[str | None, "a pytest file that the module has to pass"] = None,
    ) -> tuple[str, RunResult]:
        """Write a Python module from a specification, with tests that were written without seeing
        it, run and graded. Takes minutes. Writes no file: the answer holds code, tests, verdict."""
        try:
            report = await bench.make(specification, module, tests)
        except GreenloopError as error:
            raise ToolException(str(error)) from error
        answer = build_run_result(report, bench.settings.require)
        return answer.model_dump_json(), answer

    def blocking(specification: str, module: str | None = None, tests: str | None = None) -> Any:
        return run_in_any_thread(awaited(specification, module, tests))

    return StructuredTool.from_function(
        func=blocking,
        coroutine=awaited,
        name="make_tested_code",
        description=inspect.getdoc(awaited),
        args_schema=create_schema_from_function("make_tested_code", awaited),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
