"""`eval` as typer reads it. Nothing heavy is imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from greenloop.cli.options.batch import Jobs, PerMinute
from greenloop.cli.options.common import (
    AllowPackage,
    Fallback,
    Json,
    MaxCost,
    MaxRepairs,
    MaxTokens,
    Model,
    Mutants,
    Quiet,
    Sandbox,
    Timeout,
)

Tasks = Annotated[
    Path | None,
    typer.Argument(help="A .jsonl (or .jsonl.gz, .json) of tasks, or a folder of exercises."),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="auto (by the tasks' keys), greenloop, humaneval, mbpp, evalplus, exercism, or a plugin's.",
    ),
]
Compare = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--compare", metavar="A B", help="Two evaluations: their folders or what --json printed."
    ),
]
CheckTasks = Annotated[
    bool,
    typer.Option("--check-tasks", help="Run the data's own solutions; no model is asked."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks.")]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option("--leave-out", help="A task that is not run; may be repeated.", metavar="ID"),
]
EvalDir = Annotated[
    Path | None,
    typer.Option("--run-dir", help="Where results and runs are kept; found again by default."),
]
Markdown = Annotated[str | None, typer.Option(help="The same as Markdown; - is standard output.")]


def eval_(
    tasks: Tasks = None,
    format: Format = "auto",
    compare: Compare = None,
    check_tasks: CheckTasks = False,
    limit: Limit = None,
    leave_out: LeaveOut = None,
    jobs: Jobs = 4,
    requests_per_minute: PerMinute = None,
    tokens_per_minute: PerMinute = None,
    run_dir: EvalDir = None,
    model: Model = None,
    fallback_model: Fallback = None,
    json: Json = False,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    mutants: Mutants = None,
    markdown: Markdown = None,
    quiet: Quiet = False,
) -> None:
    """Tasks with hidden tests: how often a model's code passes them, and how true verdicts are."""
    typed = dict(locals())
    from greenloop.cli.commands.eval import eval_from_parameters

    raise typer.Exit(eval_from_parameters(typed))
