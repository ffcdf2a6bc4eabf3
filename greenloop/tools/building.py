"""Construction of LangChain tools from asynchronous methods."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tools import (
    BaseTool,
    StructuredTool,
    ToolException,
    create_schema_from_function,
)

from greenloop.errors import GreenloopError
from greenloop.threads import run_in_any_thread


def build_tool(
    method: Callable[..., Awaitable[Any]],
    work: Callable[..., Awaitable[Any]] | None = None,
    **details: Any,
) -> BaseTool:
    """Return a tool with the name, arguments and docstring of a method; `work` runs instead of it.

    A GreenloopError becomes a ToolException.
    """
    call = work or method

    async def run_async(*args: Any, **arguments: Any) -> Any:
        try:
            return await call(*args, **arguments)
        except GreenloopError as error:
            raise ToolException(str(error)) from error

    def run_blocking(*args: Any, **arguments: Any) -> Any:
        return run_in_any_thread(run_async(*args, **arguments))

    return StructuredTool.from_function(
        func=run_blocking,
        coroutine=run_async,
        name=method.__name__,
        description=inspect.getdoc(method),
        args_schema=create_schema_from_function(method.__name__, method, parse_docstring=True),
        **details,
    )
