"""MCP over standard input and output: what the SDK does, for hosts that break off or blunder, too."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Serves until the host closes our input, or is gone altogether."""
    lowlevel = server._lowlevel_server
    try:
        async with stdio_server() as (lines, answers):
            heard = _MessageStream(lines, answers)
            await lowlevel.run(heard, answers, lowlevel.create_initialization_options())
    except Exception as error:
        if not _is_broken_pipe(error):
            raise


def _is_broken_pipe(error: BaseException) -> bool:
    """Nobody reads our answers any more: what was under way has ended, and nobody is to be told."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        return isinstance(error, BrokenPipeError)
    return all(_is_broken_pipe(item) for item in inner)


class _MessageStream:
    """The stream of messages. A line that is none is answered, where it tells which call it is.

    The SDK drops such a line, and the host waits. JavaScript sends some: half an emoji, where a
    text was cut in its middle, is JSON there, and none here.
    """

    def __init__(self, lines: Any, answers: Any) -> None:
        self._lines, self._answers = lines, answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)

    async def __aenter__(self) -> _MessageStream:
        await self._lines.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._lines.__aexit__(*error)

    def __aiter__(self) -> _MessageStream:
        return self

    async def __anext__(self) -> Any:
        while isinstance(item := await self._lines.__anext__(), Exception):
            if refusal := _build_parse_error(item):
                await self._answers.send(SessionMessage(refusal))
        return item


def _build_parse_error(error: Exception) -> JSONRPCError | None:
    """To the call whose line could not be read."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors()[0]
    try:
        call = json.loads(first["input"])["id"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not isinstance(call, (int, str)):
        return None
    about = ErrorData(code=PARSE_ERROR, message=f"Parse error: {first['msg']}")
    return JSONRPCError(jsonrpc="2.0", id=call, error=about)
