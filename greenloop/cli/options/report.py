"""Options of `report`, `doctor` and `mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from greenloop.cli.options.common import (
    AllowPackage,
    Json,
    Model,
    ModelOptions,
    Mutants,
    Require,
    Sandbox,
)

_OPTIONAL_VALUE_FLAGS = ("--html", "--markdown")


class ReportCommand(TyperCommand):
    """The `report` command, whose options `--html` and `--markdown` may go without a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*expand_bare_options(args)])


def expand_bare_options(args: list[str]) -> list[str]:
    """Return the arguments, with `--html=` for a `--html` without a value.

    It has none at the end, before an option, or before a folder, which is the run directory.
    """
    read: list[str] = []
    for number, word in enumerate(args):
        following = args[number + 1] if number + 1 < len(args) else "--"
        bare = (following.startswith("-") and following != "-") or Path(following).is_dir()
        read.append(f"{word}=" if word in _OPTIONAL_VALUE_FLAGS and bare else word)
    return read


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Show the report of a run, or write it in another format; - is standard output."""

    run_dir: Annotated[
        Path | None,
        typer.Argument(help="The directory of a run, or its report.json; default: the latest."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="The report as it was saved.")] = False
    html: Annotated[
        str | None,
        typer.Option(help="A page; default: report.html in the run directory.", metavar="[FILE]"),
    ] = None
    open_page: Annotated[
        bool, typer.Option("--open", help="Show the page in a browser, or print its path.")
    ] = False
    junit: Annotated[str | None, typer.Option(help="JUnit XML.", metavar="FILE")] = None
    markdown: Annotated[
        str | None,
        typer.Option(help="A short summary; default: standard output.", metavar="[FILE]"),
    ] = None
    sarif: Annotated[
        str | None,
        typer.Option(help="Surviving mutants and findings as SARIF 2.1.0.", metavar="FILE"),
    ] = None
    schema: Annotated[
        bool, typer.Option("--schema", help="The report's JSON Schema; needs no run.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Show what this machine offers: model, sandbox, versions; and how to fix what is missing."""

    json: Json = False
    model: Model = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None


@dataclass(frozen=True, kw_only=True)
class McpOptions(ModelOptions):
    """Serve make, check and heal as tools to an MCP host (an editor, an agent)."""

    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP on 127.0.0.1 instead of standard input.")
    ] = False
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="For --http; 0 picks a free port.")
    ] = 8765
    require: Require = None
    mutants: Mutants = None
