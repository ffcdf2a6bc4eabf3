"""`mcp` as typer reads it. Nothing heavy is imported here."""

from __future__ import annotations

from typing import Annotated

import typer

from greenloop.cli.options.common import (
    AllowPackage,
    Fallback,
    MaxCost,
    MaxRepairs,
    MaxTokens,
    Model,
    Mutants,
    Require,
    Sandbox,
    Timeout,
    flags_from_parameters,
)

Http = Annotated[
    bool, typer.Option("--http", help="Streamable HTTP on 127.0.0.1 instead of standard input.")
]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="For --http; 0 is a free one, shown.")
]


def mcp(
    http: Http = False,
    port: Port = 8765,
    model: Model = None,
    fallback_model: Fallback = None,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    require: Require = None,
    mutants: Mutants = None,
) -> None:
    """Serve make, check and heal as tools to an MCP host (an editor, an agent)."""
    flags = flags_from_parameters(dict(locals()))
    from greenloop.cli.commands.mcp import ServeOptions, mcp_command

    raise typer.Exit(mcp_command(ServeOptions(http, port), flags))
