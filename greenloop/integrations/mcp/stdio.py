"""MCP over standard input and output, tolerant of broken pipes and invalid messages."""

import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve until the client closes standard input, or its process ends."""
    lowlevel = server._lowlevel_server
    try:
        async with stdio_server() as (messages, answers):
            stream = _MessageStream(messages, answers)
            await lowlevel.run(stream, answers, lowlevel.create_initialization_options())
    except Exception as error:
        if not _is_broken_pipe(error):
            raise


def _is_broken_pipe(error: BaseException) -> bool:
    """Return whether the client no longer reads answers; then there is nothing to report."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        return isinstance(error, BrokenPipeError)
    return all(_is_broken_pipe(item) for item in inner)


class _MessageStream:
    """The stream of messages, which answers an invalid message if it has a call's id.

    The SDK drops such a message, and the client waits. JavaScript clients send some: half of a
    surrogate pair, from a truncated text, is valid JSON there and invalid in Python.
    """

    def __init__(self, messages: Any, answers: Any) -> None:
        self._messages, self._answers = messages, answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._messages, name)

    async def __aenter__(self) -> "_MessageStream":
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._messages.__aexit__(*error)

    def __aiter__(self) -> "_MessageStream":
        return self

    async def __anext__(self) -> Any:
        while isinstance(item := await self._messages.__anext__(), Exception):
            if refusal := _build_parse_error(item):
                await self._answers.send(SessionMessage(refusal))
        return item


def _build_parse_error(error: Exception) -> JSONRPCError | None:
    """Return the error for the call whose message is invalid; None if it has no id."""
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
