"""`batch` and `verify` as typer reads them. Nothing heavy is imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
    Require,
    Sandbox,
    Timeout,
)

Specs = Annotated[
    list[str],
    typer.Argument(help="Files, folders, a .jsonl of {id, spec, tests?, output?}, or -."),
]
OutputDir = Annotated[
    Path | None,
    typer.Option("--output-dir", "-o", help="Write code, tests and lock files there."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, max=1000, help="Conversations at once.")]
PerMinute = Annotated[int | None, typer.Option(min=1, help="Of all conversations together.")]
BatchDir = Annotated[
    str | None,
    typer.Option(
        "--run-dir",
        help="Where results and runs are kept; found again by default. With --engine ray also "
        "a bucket: s3://…, or any other address of fsspec's.",
        metavar="FOLDER",
    ),
]
Markdown = Annotated[
    str | None, typer.Option(help="A summary, also where not all is well; - is standard output.")
]
Junit = Annotated[str | None, typer.Option(help="JUnit XML: a case a specification or lock file.")]
GithubOutput = Annotated[
    Path | None, typer.Option(help="Append counts and changed files, as to $GITHUB_OUTPUT.")
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(help="Where the runs go on: in this process, or on a Ray cluster's nodes."),
]
Address = Annotated[
    str | None,
    typer.Option(help="HOST:PORT of the Ray cluster, or auto; default $RAY_ADDRESS, else its own."),
]
Force = Annotated[bool, typer.Option("--force", help="Write over code and tests changed by hand.")]


def batch(
    specs: Specs,
    output_dir: OutputDir = None,
    jobs: Jobs = 4,
    requests_per_minute: PerMinute = None,
    tokens_per_minute: PerMinute = None,
    run_dir: BatchDir = None,
    model: Model = None,
    fallback_model: Fallback = None,
    json: Json = False,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    require: Require = None,
    mutants: Mutants = None,
    markdown: Markdown = None,
    junit: Junit = None,
    github_output: GithubOutput = None,
    force: Force = False,
    engine: Engine = "local",
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Many specifications, side by side; the same command again goes on where it was."""
    typed = dict(locals())
    from greenloop.cli.commands.batch import batch_from_parameters

    raise typer.Exit(batch_from_parameters(typed))


def verify(
    locks: Annotated[
        list[Path] | None,
        typer.Argument(help="Lock files, or folders with some; default: the working folder."),
    ] = None,
    digests_only: Annotated[
        bool, typer.Option("--digests-only", help="Compare files; run nothing again.")
    ] = False,
    json: Json = False,
    timeout: Timeout = None,
    sandbox: Sandbox = None,
    mutants: Mutants = None,
    markdown: Markdown = None,
    junit: Junit = None,
    quiet: Quiet = False,
) -> None:
    """Code and tests are those that were graded, and the grade still holds. No model is asked."""
    from greenloop.cli.commands.verify import VerifyOptions, verify_command

    flags = {"timeout_s": timeout, "sandbox": sandbox, "mutants": mutants}
    options = VerifyOptions(json, quiet, markdown, junit, digests_only)
    raise typer.Exit(verify_command(locks or [], options, flags))
