"""Options of `report`, `runs`, `doctor`, `init` and `mcp`."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.declaration import Names, Options, argument, flag, option
from greenloop.cli.options.shared import GRADING, REPAIRING, WRITING, project_root


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Options):
    """Show the report of a run, or write it in another format. - as FILE is standard output."""

    examples: ClassVar[str] = (
        "greenloop report --open\ngreenloop report --markdown\n"
        "greenloop report .greenloop/runs/RUN --sarif mutants.sarif"
    )

    run_dir: Path | None = argument(
        "The folder of a run, or its report.json; default: the latest run.",
        None,
        "path",
        metavar="RUN_DIR",
    )
    json: bool = flag("Print the report as JSON.")
    write: Path | None = option("Write code, tests and lock file of the run to this folder.", "DIR")
    code: bool = flag("Print the code of the run, or the patch of a change.")
    html: str | None = option(
        "Write an HTML page; default: report.html in the folder of the run.", "[FILE]"
    )
    open_page: bool = flag(
        "Open the HTML page in $BROWSER or the default browser, and print its path.",
        "Output",
        "--open",
    )
    junit: str | None = option("Write JUnit XML.", "FILE")
    markdown: str | None = option("Write a short summary; default: standard output.", "[FILE]")
    sarif: str | None = option("Write surviving mutants and findings as SARIF 2.1.0.", "FILE")
    schema: bool = flag("Print the JSON Schema of reports; needs no run.")


@dataclass(frozen=True, kw_only=True)
class RunsOptions(Options):
    """List the runs below .greenloop, or remove old ones, and cached packages, with --prune."""

    examples: ClassVar[str] = "greenloop runs\ngreenloop runs --prune --older-than 30"

    prune: bool = flag(
        "Remove old runs, and packages in the cache of all projects that were not used lately; asks first.",
        "Options",
    )
    older_than: float = option(
        "With --prune: what counts as old, in days.", "DAYS", "Options", default=7.0, min=0
    )
    yes: bool = flag("Remove without asking.", "Options", "--yes", "-y")
    json: bool = flag("Print the list as JSON.")


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """Show the model, sandbox and versions that greenloop uses, and how to add what is missing."""

    settings: ClassVar[Names] = ("model", "sandbox", "allow_package")
    examples: ClassVar[str] = "greenloop doctor\ngreenloop doctor --model ollama:qwen3-coder"

    json: bool = flag("Print the result as JSON.")
    verbose: bool = flag(
        "Show all versions, all packages, and what the sandbox isolates.",
        "Output",
        "--verbose",
        "-v",
    )


@dataclass(frozen=True, kw_only=True)
class InitOptions(Options):
    """Write configuration, CI job and pre-commit hook for a project; existing files are kept.

    Only pyproject.toml and .gitignore get what they lack. Replace ADDRESS in the CI job, if it has
    one, and enable the hook with `pre-commit install`.

    With --agent: write the hook that runs `greenloop gate` when a coding agent stops.
    """

    examples: ClassVar[str] = (
        "greenloop init\ngreenloop init --in services/shop\ngreenloop init --agent claude"
    )

    root: Path = project_root()
    agent: str | None = option(
        "Add the hook to the settings of claude, codex, cursor, openhands, aider or opencode.",
        "NAME",
        "Options",
    )
    remove: bool = flag("With --agent: remove the hook.", "Options")


@dataclass(frozen=True, kw_only=True)
class McpOptions(Options):
    """Serve make, check, heal, change and gate as tools for an editor or agent (MCP).

    Needs the package `mcp`, which the extra of that name installs. All tools but check_code and
    check_changes need a model.
    """

    settings: ClassVar[Names] = (*GRADING, *REPAIRING, *WRITING)
    examples: ClassVar[str] = "greenloop mcp\ngreenloop mcp --http --port 8765"

    http: bool = flag(
        "Serve over HTTP on 127.0.0.1 instead of standard input and output.", "Options"
    )
    port: int = option(
        "The port for --http; 0 picks a free one.", "N", "Options", default=8765, min=0, max=65535
    )
