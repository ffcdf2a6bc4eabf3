"""Options of `batch`, `eval` and `verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.cli.options.common import (
    ConcurrencyOptions,
    DisplayOptions,
    Junit,
    Markdown,
    Mutants,
    Peer,
    Prompts,
    Require,
    Sandbox,
    Timeout,
)
from greenloop.cli.options.declaration import argument, flag, option


@dataclass(frozen=True, kw_only=True)
class BatchOptions(ConcurrencyOptions, DisplayOptions):
    """Run many specifications at once. The same command again continues the batch."""

    specs: list[str] = argument("Files, folders, a .jsonl of {id, spec, tests?, output?}, or -.")
    output_dir: Path | None = option(
        "Write code, tests and lock files there.", "--output-dir", "-o"
    )
    run_dir: str | None = option(
        "Where results and runs are kept; found again by default. With --engine ray also a bucket: "
        "s3://…, or any other address that fsspec knows.",
        metavar="FOLDER",
    )
    require: Require = None
    mutants: Mutants = None
    peer: Peer = None
    prompts: Prompts = None
    markdown: Markdown = None
    junit: Junit = None
    github_output: Path | None = option("Append counts and changed files, as to $GITHUB_OUTPUT.")
    force: bool = flag("Overwrite code and tests that were edited by hand.", "--force")
    engine: str = option(
        "Where the runs are executed: local (this process), ray (the nodes of a Ray cluster), or an "
        "executor of an installed package.",
        default="local",
        metavar="NAME",
    )
    address: str | None = option(
        "HOST:PORT of the Ray cluster, or auto; default $RAY_ADDRESS, else new."
    )


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ConcurrencyOptions, DisplayOptions):
    """Evaluate a model on tasks with hidden tests, and how often its verdicts are wrong."""

    tasks: Path | None = argument(
        "A .jsonl (or .jsonl.gz, .json) of tasks, or a folder of exercises.", None
    )
    format: str = option(
        "auto (by the tasks' keys), greenloop, humaneval, mbpp, evalplus, exercism, or the name of "
        "a plugin.",
        default="auto",
        metavar="NAME",
    )
    compare: tuple[Path, Path] | None = option(
        "Two evaluations: folders, or the output of --json.", metavar="A B"
    )
    check_tasks: bool = flag("Run the data's own solutions. No model is called.", "--check-tasks")
    limit: int | None = option("Only the first N tasks.", min=1)
    leave_out: list[str] | None = option("A task to skip; may be repeated.", metavar="ID")
    run_dir: Path | None = option("Where results and runs are kept; found again by default.")
    mutants: Mutants = None
    peer: Peer = None
    markdown: Markdown = None


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DisplayOptions):
    """Check that code and tests are those that were graded, and that the grade still holds."""

    locks: list[Path] | None = argument(
        "Lock files, or folders with some; default: the working folder.", None
    )
    digests_only: bool = flag("Compare digests; run nothing.", "--digests-only")
    timeout: Timeout = None
    sandbox: Sandbox = None
    require: Require = None
    mutants: Mutants = None
    markdown: Markdown = None
    junit: Junit = None
