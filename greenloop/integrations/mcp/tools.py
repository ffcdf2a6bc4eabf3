"""The tools of the MCP server."""

import inspect
import os
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from greenloop.app.requests import ScriptArguments
from greenloop.errors import GreenloopError, NoModelError
from greenloop.events import EventSink
from greenloop.integrations.mcp.progress import forward_progress
from greenloop.integrations.result import (
    ChangesResult,
    RunResult,
    build_changes_result,
    build_run_result,
    truncate_line,
)
from greenloop.integrations.service import AgentService
from greenloop.integrations.task_group import RunTaskGroup
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.versions import greenloop_version

T = TypeVar("T")
RunFactory = Callable[[EventSink], Coroutine[Any, Any, T]]
_INSTRUCTIONS = (
    "greenloop turns specifications into tested Python code, changes projects, repairs code, and "
    "grades what tests are worth. Code runs in a sandbox without network. Calls take seconds to minutes; ask for "
    "progress. Nothing is written to your files: the answers hold the code."
)
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)S?$", re.IGNORECASE)
_MIN_SECRET_LENGTH = 8  # characters; shorter values are not keys and occur in many texts
_NO_MODEL_HINT = "give this server --model PROVIDER:NAME, and the key in its environment"

NonEmptyText = Annotated[str, Field(min_length=1)]
ModuleName = Annotated[
    str | None,
    Field(
        description="the module's name; default: the one that the tests import, else chosen by the model"
    ),
]
TestText = Annotated[
    str | None, Field(description="your own pytest file: always run, never edited")
]


def build_server(service: AgentService, runs: RunTaskGroup) -> MCPServer[Any]:
    """Return an MCP server for a service; `runs` holds the active calls."""
    server = _StrictServer(
        "greenloop", instructions=_INSTRUCTIONS, version=greenloop_version(), log_level="WARNING"
    )
    tools = McpTools(service, runs)
    about = ToolAnnotations(destructive_hint=False)
    for tool in (
        tools.make_tested_code,
        tools.check_code,
        tools.heal_code,
        tools.change_code,
        tools.check_changes,
    ):
        server.add_tool(tool, description=inspect.getdoc(tool), annotations=about)
    return server


class _StrictServer(MCPServer[Any]):  # type: ignore[misc, unused-ignore]
    """An MCP server that reports an invalid call in one line, and refuses unknown arguments.

    With a mistyped `test` instead of `tests`, a module would be healed as a script.
    """

    async def list_tools(self) -> list[Any]:
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = {**tool.input_schema, "additionalProperties": False}
        return tools

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        tool = next((item for item in await self.list_tools() if item.name == name), None)
        known = tool.input_schema["properties"] if tool else arguments
        if unknown := [item for item in arguments if item not in known]:
            raise ToolError(
                truncate_line(f"{unknown[0]}: no argument of {name}: {', '.join(known)}")
            )
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(_describe_tool_error(error)) from None


def _describe_tool_error(error: ToolError) -> str:
    if isinstance(error.__cause__, ValidationError):
        first = error.__cause__.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return truncate_line(str(error.__cause__ or error), 1000)


class McpTools:
    """The tools that a client can call."""

    def __init__(self, service: AgentService, runs: RunTaskGroup) -> None:
        self._service, self._runs = service, runs
        self._redactor = Redactor(service.settings, os.environ)

    async def make_tested_code(
        self,
        specification: Annotated[
            NonEmptyText, Field(description="what one Python module is to do, in plain language")
        ],
        ctx: Context,
        module: ModuleName = None,
        tests: TestText = None,
    ) -> RunResult:
        """Write a Python module from a specification, with tests that were written without seeing
        it, run and graded. Signatures, doctests and examples in the specification are kept."""
        return await self._run_call(
            ctx, lambda emit: self._service.make(specification, module, tests, emit)
        )

    async def check_code(
        self,
        code: Annotated[NonEmptyText, Field(description="the whole module's source")],
        tests: Annotated[NonEmptyText, Field(description="a pytest file that imports the module")],
        ctx: Context,
        module: ModuleName = None,
    ) -> RunResult:
        """Run tests on code, and measure which faults they would miss: mutants, changed assertions,
        coverage, forged results. No model is called."""
        return await self._run_call(
            ctx, lambda emit: self._service.check(code, tests, module, emit)
        )

    async def heal_code(
        self,
        code: Annotated[NonEmptyText, Field(description="the module, or the script, as it is now")],
        ctx: Context,
        tests: TestText = None,
        module: ModuleName = None,
        arguments: Annotated[list[str] | None, Field(description="arguments of the script")] = None,
        stdin: Annotated[str | None, Field(description="standard input of the script")] = None,
        inputs: Annotated[
            dict[str, str] | None,
            Field(description="files that a script reads: their text, by relative path"),
        ] = None,
        expect: Annotated[
            list[str] | None,
            Field(description="texts, or /regular expressions/, that a script must print"),
        ] = None,
        expect_files: Annotated[
            list[str] | None,
            Field(
                description="files that a script must write: PATH[:non-empty|:rows=N|:json|:csv=A,B]"
            ),
        ] = None,
    ) -> RunResult:
        """Repair existing code with as small a change as will do: with tests a module until they
        pass, without tests a script until it runs and its output is as expected."""
        script = ScriptArguments(arguments, expect=expect, expect_file=expect_files)
        return await self._run_call(
            ctx, lambda emit: self._service.heal(code, tests, module, script, stdin, inputs, emit)
        )

    async def change_code(
        self,
        wish: Annotated[
            NonEmptyText,
            Field(description="the change: a feature, or the text of an issue"),
        ],
        ctx: Context,
        folder: Annotated[
            str, Field(description="the project's folder, below the one that this server works in")
        ] = ".",
        fence: Annotated[
            list[str] | None, Field(description="globs of the files that may be changed")
        ] = None,
        may_change: Annotated[
            list[str] | None, Field(description="tests that may fail after the change: PATH::NAME")
        ] = None,
    ) -> RunResult:
        """Make a patch with new tests for a Python project of several files, run against its own
        tests and graded. Writes no file: the answer's `code` is the patch, for `git apply`."""
        return await self._run_call(
            ctx,
            lambda emit: self._service.change(wish, folder, fence or (), may_change or (), emit),
        )

    async def check_changes(
        self,
        ctx: Context,
        folder: Annotated[
            str, Field(description="the project's folder, below the one that this server works in")
        ] = ".",
        base: Annotated[
            str | None, Field(description="the commit that the work began at; default: HEAD")
        ] = None,
        time: Annotated[
            float | None, Field(ge=1, description="time limit of the measurement, in seconds")
        ] = None,
    ) -> ChangesResult:
        """Say what the changed lines of a project lack before they are done: tests that were removed,
        skipped or loosened, lines that no test runs, faults that no test notices. No model is called.
        """
        answer = await self._run_job(
            ctx, lambda emit: self._service.check_changes(folder, base, time, emit)
        )
        return build_changes_result(answer)

    async def _run_call(self, ctx: Context, start_run: RunFactory[Report]) -> RunResult:
        report = await self._run_job(ctx, start_run)
        return build_run_result(report, self._service.settings.require)

    async def _run_job(self, ctx: Context, start_run: RunFactory[T]) -> T:
        async def report_line(number: int, line: str) -> None:
            await ctx.report_progress(number, None, self._redactor.redact(line))

        try:
            async with forward_progress(report_line) as emit:
                return await self._runs.run_to_completion(start_run(emit))
        except GreenloopError as error:
            raise ToolError(self._redactor.redact(_describe_error(error))) from None
        except Exception as error:  # noqa: BLE001 - a defect ends only this call
            raise ToolError(self._redactor.redact(f"internal error: {error!r}")) from None


def _describe_error(error: GreenloopError) -> str:
    run_dir = error.report.artifacts.run_dir if error.report else None
    first, more, _ = str(error).partition("\n")
    if more and isinstance(error, NoModelError):  # the rest is for the command line
        text = f"{first.partition('. ')[0]}: {_NO_MODEL_HINT}"
    else:
        text = truncate_line(str(error))
    return f"{text}; the run is in {run_dir}" if run_dir else text


class Redactor:
    """Redaction of the environment's API keys in answers."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        values = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
        values |= set(settings.secrets)
        self._values = sorted(
            (v for v in values if len(v) >= _MIN_SECRET_LENGTH), key=len, reverse=True
        )

    def redact(self, text: str) -> str:
        """Return the text with `***` in place of each key."""
        for value in self._values:
            text = text.replace(value, "***")
        return text
