"""Options of `batch`, `eval` and `verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from greenloop.cli.options.common import (
    ConcurrencyOptions,
    DisplayOptions,
    Junit,
    Markdown,
    Mutants,
    Prompts,
    Require,
    Sandbox,
    Timeout,
)


@dataclass(frozen=True, kw_only=True)
class BatchOptions(ConcurrencyOptions, DisplayOptions):
    """Run many specifications at once. The same command again continues the batch."""

    specs: Annotated[
        list[str],
        typer.Argument(help="Files, folders, a .jsonl of {id, spec, tests?, output?}, or -."),
    ]
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", "-o", help="Write code, tests and lock files there."),
    ] = None
    run_dir: Annotated[
        str | None,
        typer.Option(
            "--run-dir",
            help="Where results and runs are kept; found again by default. With --engine ray also "
            "a bucket: s3://…, or any other address that fsspec knows.",
            metavar="FOLDER",
        ),
    ] = None
    require: Require = None
    mutants: Mutants = None
    prompts: Prompts = None
    markdown: Markdown = None
    junit: Junit = None
    github_output: Annotated[
        Path | None, typer.Option(help="Append counts and changed files, as to $GITHUB_OUTPUT.")
    ] = None
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite code and tests that were edited by hand.")
    ] = False
    engine: Annotated[
        str,
        typer.Option(
            help="Where the runs are executed: local (this process), ray (the nodes of a Ray "
            "cluster), or an executor of an installed package.",
            metavar="NAME",
        ),
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of the Ray cluster, or auto; default $RAY_ADDRESS, else new."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ConcurrencyOptions, DisplayOptions):
    """Evaluate a model on tasks with hidden tests, and how often its verdicts are wrong."""

    tasks: Annotated[
        Path | None,
        typer.Argument(help="A .jsonl (or .jsonl.gz, .json) of tasks, or a folder of exercises."),
    ] = None
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="auto (by the tasks' keys), greenloop, humaneval, mbpp, evalplus, exercism, "
            "or the name of a plugin.",
        ),
    ] = "auto"
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare", metavar="A B", help="Two evaluations: folders, or the output of --json."
        ),
    ] = None
    check_tasks: Annotated[
        bool,
        typer.Option("--check-tasks", help="Run the data's own solutions. No model is called."),
    ] = False
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks.")] = None
    leave_out: Annotated[
        list[str] | None,
        typer.Option("--leave-out", help="A task to skip; may be repeated.", metavar="ID"),
    ] = None
    run_dir: Annotated[
        Path | None,
        typer.Option("--run-dir", help="Where results and runs are kept; found again by default."),
    ] = None
    mutants: Mutants = None
    markdown: Markdown = None


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DisplayOptions):
    """Check that code and tests are those that were graded, and that the grade still holds."""

    locks: Annotated[
        list[Path] | None,
        typer.Argument(help="Lock files, or folders with some; default: the working folder."),
    ] = None
    digests_only: Annotated[
        bool, typer.Option("--digests-only", help="Compare digests; run nothing.")
    ] = False
    timeout: Timeout = None
    sandbox: Sandbox = None
    mutants: Mutants = None
    markdown: Markdown = None
    junit: Junit = None
