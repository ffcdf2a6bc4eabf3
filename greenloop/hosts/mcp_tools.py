"""The tools of the MCP server, on one workbench."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from greenloop.errors import GreenloopError
from greenloop.events import Emit
from greenloop.hosts.answer import Answer, answer_of
from greenloop.hosts.running import Running
from greenloop.hosts.secrets import Secrets
from greenloop.hosts.telling import told
from greenloop.hosts.workbench import ScriptWishes, Workbench
from greenloop.records import Report
from greenloop.way.reporting import own_version

Work = Callable[[Emit], Coroutine[Any, Any, Report]]
_ABOUT = (
    "greenloop turns specifications into tested Python code, repairs code, and grades what tests "
    "are worth. Code runs in a sandbox without network. Calls take seconds to minutes; ask for "
    "progress. Nothing is written to your files: the answers hold the code."
)
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
    for tool in (tools.make_tested_code, tools.check_code, tools.heal_code):
        server.add_tool(tool, annotations=ToolAnnotations(destructive_hint=False))
    return server


class _Server(MCPServer[Any]):  # type: ignore[misc, unused-ignore]
    """Says in one line what is wrong with a call."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
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
    text = " ".join(str(error.__cause__ or error).split())
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"


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
    return f"{error}; the run is in {run_dir}" if run_dir else str(error)
