"""The tools of the MCP server, on one workbench."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from greenloop.errors import GreenloopError, NoModelError
from greenloop.events import Emit
from greenloop.integrations.mcp.progress import told
from greenloop.integrations.redaction import Secrets
from greenloop.integrations.result import Answer, answer_of
from greenloop.integrations.service import ScriptWishes, Workbench
from greenloop.integrations.task_group import Running
from greenloop.records import Report
from greenloop.workflow.report_builder import own_version

Work = Callable[[Emit], Coroutine[Any, Any, Report]]
_ABOUT = (
    "greenloop turns specifications into tested Python code, repairs code, and grades what tests "
    "are worth. Code runs in a sandbox without network. Calls take seconds to minutes; ask for "
    "progress. Nothing is written to your files: the answers hold the code."
)
_NO_MODEL = "give this server --model PROVIDER:NAME, and the key in its environment"
_LINE = 500

Text = Annotated[str, Field(min_length=1)]
Module = Annotated[
    str | None,
    Field(description="the module's name; found from the tests, or chosen, where it is left out"),
]
TestText = Annotated[
    str | None, Field(description="your own pytest file: always run, never edited")
]


def build_server(bench: Workbench, running: Running) -> MCPServer[Any]:
    """An MCP server whose calls are worked on at `bench`; `running` has those under way."""
    server = _Server("greenloop", instructions=_ABOUT, version=own_version(), log_level="WARNING")
    tools = Tools(bench, running)
    about = ToolAnnotations(destructive_hint=False)
    for tool in (tools.make_tested_code, tools.check_code, tools.heal_code):
        server.add_tool(tool, description=inspect.getdoc(tool), annotations=about)
    return server


class _Server(MCPServer[Any]):  # type: ignore[misc, unused-ignore]
    """Says in one line what is wrong with a call; an argument that nobody knows is wrong too: with
    `test` for `tests` a module would be healed as a script."""

    async def list_tools(self) -> list[Any]:
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = {**tool.input_schema, "additionalProperties": False}
        return tools

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        tool = next((item for item in await self.list_tools() if item.name == name), None)
        known = tool.input_schema["properties"] if tool else arguments
        if unknown := [item for item in arguments if item not in known]:
            raise ToolError(_cut(f"{unknown[0]}: no argument of {name}: {', '.join(known)}"))
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            raise ToolError(_in_one_line(error)) from None


def _in_one_line(error: ToolError) -> str:
    if isinstance(error.__cause__, ValidationError):
        first = error.__cause__.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return _cut(str(error.__cause__ or error), 2 * _LINE)


def _cut(text: str, most: int = _LINE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"


class Tools:
    """What a host can call."""

    def __init__(self, bench: Workbench, running: Running) -> None:
        self._bench, self._running = bench, running
        self._secrets = Secrets(bench.settings, os.environ)

    async def make_tested_code(
        self,
        specification: Annotated[
            Text, Field(description="what one Python module is to do, in plain language")
        ],
        ctx: Context,
        module: Module = None,
        tests: TestText = None,
    ) -> Answer:
        """Write a Python module from a specification, with tests that were written without seeing
        it, run and graded. Signatures, doctests and examples in the specification are kept."""
        return await self._answer(
            ctx, lambda emit: self._bench.make(specification, module, tests, emit)
        )

    async def check_code(
        self,
        code: Annotated[Text, Field(description="the whole module's source")],
        tests: Annotated[Text, Field(description="a pytest file that imports the module")],
        ctx: Context,
        module: Module = None,
    ) -> Answer:
        """Run tests on code, and grade what their green is worth: mutants, controls, coverage,
        forged results. No model is asked."""
        return await self._answer(ctx, lambda emit: self._bench.check(code, tests, module, emit))

    async def heal_code(
        self,
        code: Annotated[Text, Field(description="the module, or the script, as it is now")],
        ctx: Context,
        tests: TestText = None,
        module: Module = None,
        arguments: Annotated[list[str] | None, Field(description="of a script")] = None,
        stdin: Annotated[str | None, Field(description="of a script")] = None,
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
            Field(description="files a script must make: PATH[:non-empty|:rows=N|:json|:csv=A,B]"),
        ] = None,
    ) -> Answer:
        """Repair existing code with as small a change as will do: with tests a module until they
        pass, without tests a script until it runs and its output is as expected."""
        wishes = ScriptWishes(
            tuple(arguments or ()), stdin, inputs, tuple(expect or ()), tuple(expect_files or ())
        )
        return await self._answer(
            ctx, lambda emit: self._bench.heal(code, tests, module, wishes, emit)
        )

    async def _answer(self, ctx: Context, work: Work) -> Answer:
        async def tell(number: int, line: str) -> None:
            await ctx.report_progress(number, None, self._secrets.hidden(line))

        try:
            async with told(tell) as emit:
                report = await self._running.to_its_end(work(emit))
        except GreenloopError as error:
            raise ToolError(self._secrets.hidden(_why(error))) from None
        except Exception as error:  # noqa: BLE001 - a mistake of ours ends this call, and no other
            raise ToolError(self._secrets.hidden(f"internal error: {error!r}")) from None
        return answer_of(report, self._bench.settings.require)


def _why(error: GreenloopError) -> str:
    run_dir = error.report.artifacts.run_dir if error.report else None
    first, more, _ = str(error).partition("\n")
    if more and isinstance(error, NoModelError):  # how to set one up where greenloop is typed
        text = f"{first.partition('. ')[0]}: {_NO_MODEL}"
    else:
        text = _cut(str(error))
    return f"{text}; the run is in {run_dir}" if run_dir else text
