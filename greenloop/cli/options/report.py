"""Options of `report`, `doctor` and `mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.cli.options.common import (
    AllowPackage,
    Json,
    Model,
    ModelOptions,
    Mutants,
    Peer,
    Require,
    Sandbox,
)
from greenloop.cli.options.declaration import argument, flag, option

_OPTIONAL_VALUE_FLAGS = ("--html", "--markdown")


def expand_bare_options(args: list[str]) -> list[str]:
    """Return the arguments of `report`, with `--html=` for a `--html` without a value.

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

    run_dir: Path | None = argument(
        "The directory of a run, or its report.json; default: the latest.", None
    )
    json: bool = flag("The report as it was saved.", "--json")
    code: bool = flag("The code of the run, or the patch of a change.", "--code")
    html: str | None = option(
        "A page; default: report.html in the run directory.", metavar="[FILE]"
    )
    open_page: bool = flag("Show the page in a browser, or print its path.", "--open")
    junit: str | None = option("JUnit XML.", metavar="FILE")
    markdown: str | None = option("A short summary; default: standard output.", metavar="[FILE]")
    sarif: str | None = option("Surviving mutants and findings as SARIF 2.1.0.", metavar="FILE")
    schema: bool = flag("The report's JSON Schema; needs no run.", "--schema")


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Show what this machine offers: model, sandbox, versions; and how to fix what is missing."""

    json: Json = False
    verbose: bool = flag("All versions, and what the sandbox isolates.", "--verbose", "-v")
    model: Model = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None


@dataclass(frozen=True, kw_only=True)
class McpOptions(ModelOptions):
    """Serve make, check, heal and change as tools to an MCP host (an editor, an agent)."""

    http: bool = flag("Streamable HTTP on 127.0.0.1 instead of standard input.", "--http")
    port: int = option("For --http; 0 picks a free port.", default=8765, min=0, max=65535)
    require: Require = None
    mutants: Mutants = None
    peer: Peer = None
