"""Options of `report`, `doctor`, `init` and `mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.declaration import Names, Options, argument, flag, option
from greenloop.cli.options.shared import GRADING, REPAIRING, project_root


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """Show the report of a run, or write it in another format. The file - is standard output."""

    examples: ClassVar[str] = (
        "greenloop report --open\ngreenloop report --markdown\n"
        "greenloop report .greenloop/runs/RUN --sarif mutants.sarif"
    )

    run_dir: Path | None = argument(
        "The directory of a run, or its report.json; default: the latest.",
        None,
        "path",
        metavar="RUN_DIR",
    )
    json: bool = flag("The report as it was saved.", "--json")
    write: Path | None = option(
        "Write code, tests and lock file of the run into this folder.", metavar="DIR"
    )
    code: bool = flag("The code of the run, or the patch of a change.", "--code")
    html: str | None = option(
        "A page; default: report.html in the run directory.", metavar="[FILE]"
    )
    open_page: bool = flag(
        "Show the page in a browser ($BROWSER is followed), and print its path.", "--open"
    )
    junit: str | None = option("JUnit XML.", metavar="FILE")
    markdown: str | None = option("A short summary; default: standard output.", metavar="[FILE]")
    sarif: str | None = option("Surviving mutants and findings as SARIF 2.1.0.", metavar="FILE")
    schema: bool = flag("The report's JSON Schema; needs no run.", "--schema")


@dataclass(frozen=True, kw_only=True)
class RunsOptions(Options):
    """List the runs that are kept here: text, verdict, age, size. With --prune: remove old ones."""

    examples: ClassVar[str] = "greenloop runs\ngreenloop runs --prune --older-than 30"

    prune: bool = flag(
        "Remove runs and installed sets of packages that were not used lately; it is asked first.",
        "--prune",
        panel="Options",
    )
    older_than: float = option(
        "For --prune. Default: 7.", default=7.0, min=0, metavar="DAYS", panel="Options"
    )
    yes: bool = flag("Remove without asking.", "--yes", "-y", panel="Options")
    json: bool = flag("The list as JSON on standard output.", "--json")


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """Show model, sandbox and versions of this machine, and how to add what is missing."""

    settings: ClassVar[Names] = ("model", "sandbox", "allow_package")
    examples: ClassVar[str] = "greenloop doctor\ngreenloop doctor --model ollama:qwen3-coder"

    json: bool = flag("The report as JSON on standard output.", "--json")
    verbose: bool = flag("All versions, and what the sandbox isolates.", "--verbose", "-v")


@dataclass(frozen=True, kw_only=True)
class InitOptions(Options):
    """Write configuration, CI job and pre-commit hook for a project. Nothing is replaced.

    With --agent: the hook by which a coding agent asks `greenloop gate` before it stops.
    """

    examples: ClassVar[str] = (
        "greenloop init\ngreenloop init --in services/shop\ngreenloop init --agent claude"
    )

    root: Path = project_root()
    agent: str | None = option(
        "claude, codex, cursor, aider or opencode: add greenloop's hook to that tool's file.",
        metavar="NAME",
        panel="Options",
    )
    remove: bool = flag("With --agent: take the hook out again.", "--remove", panel="Options")


@dataclass(frozen=True, kw_only=True)
class McpOptions(Options):
    """Serve make, check, heal and change as tools of an editor or agent (MCP)."""

    settings: ClassVar[Names] = (*GRADING, *REPAIRING)
    examples: ClassVar[str] = "greenloop mcp\ngreenloop mcp --http --port 8765"

    http: bool = flag(
        "Streamable HTTP on 127.0.0.1 instead of standard input.", "--http", panel="Options"
    )
    port: int = option(
        "For --http; 0 picks a free port.",
        default=8765,
        min=0,
        max=65535,
        metavar="N",
        panel="Options",
    )
