"""`heal` and `script` as typer reads them. Nothing heavy is imported here: see `greenloop.cli.main`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from greenloop.cli.options.common import (
    AllowPackage,
    Approve,
    Fallback,
    Json,
    KeepBest,
    MaxCost,
    MaxRepairs,
    MaxTokens,
    Model,
    Mutants,
    Output,
    Quiet,
    Record,
    Require,
    RunDir,
    Sandbox,
    Timeout,
    Verbose,
)

Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        help="A file or folder that the script reads, read-only; may be repeated.",
        metavar="PATH[=AS]",
    ),
]
Stdin = Annotated[
    Path | None, typer.Option("--stdin", help="The file that it gets as standard input.")
]
Expect = Annotated[
    list[str] | None,
    typer.Option("--expect", help="What it must print; may be repeated.", metavar="TEXT|/REGEX/"),
]
ExpectFile = Annotated[
    list[str] | None,
    typer.Option(
        "--expect-file",
        help="A file that it must make: PATH[:non-empty|:rows=N|:json|:csv=COLUMNS].",
        metavar="PATH[:…]",
    ),
]
ExpectSchema = Annotated[
    Path | None,
    typer.Option("--expect-json-schema", help="What it prints is JSON valid under this schema."),
]
Artifacts = Annotated[
    Path | None, typer.Option("--artifacts", help="Write the files that it made there.")
]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-network",
        help="A host that it may reach; without it, none. May be repeated.",
        metavar="HOST[:PORT]",
    ),
]
Arguments = Annotated[
    list[str] | None, typer.Argument(help="Arguments of the script, after --.", metavar="ARGS")
]

LockedTests = Annotated[
    list[Path] | None,
    typer.Option("--tests", help="Its pytest files or folder: locked, never edited."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write the healed file without a question.")]
HealedOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the healed file there, and leave FILE alone."),
]
ModelOrNone = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="PROVIDER:NAME, replay:FILE, or none: a search over single edits alone.",
        metavar="NAME",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", min=0.1, help="For the search; default 2, without a model 60."),
]


def script(
    task: Annotated[str, typer.Argument(help="Text, a file, or - for standard input.")],
    arguments: Arguments = None,
    input: Inputs = None,
    stdin: Stdin = None,
    expect: Expect = None,
    expect_file: ExpectFile = None,
    expect_json_schema: ExpectSchema = None,
    output: Output = None,
    artifacts: Artifacts = None,
    allow_network: AllowNetwork = None,
    model: Model = None,
    fallback_model: Fallback = None,
    json: Json = False,
    run_dir: RunDir = None,
    record: Record = None,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    keep_best: KeepBest = False,
    approve: Approve = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Task → script → run → checked output. What it prints is printed."""
    typed = dict(locals())
    from greenloop.cli.commands.script import script_from_parameters

    raise typer.Exit(script_from_parameters(typed))


def heal(
    file: Annotated[Path, typer.Argument(help="The script, or with --tests the module.")],
    arguments: Arguments = None,
    tests: LockedTests = None,
    input: Inputs = None,
    stdin: Stdin = None,
    expect: Expect = None,
    expect_file: ExpectFile = None,
    expect_json_schema: ExpectSchema = None,
    yes: Yes = False,
    output: HealedOutput = None,
    artifacts: Artifacts = None,
    allow_network: AllowNetwork = None,
    model: ModelOrNone = None,
    seconds: Seconds = None,
    fallback_model: Fallback = None,
    json: Json = False,
    run_dir: RunDir = None,
    record: Record = None,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    require: Require = None,
    mutants: Mutants = None,
    approve: Approve = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Repair an existing script until it runs, or a module until its tests pass."""
    typed = dict(locals())
    from greenloop.cli.commands.heal import heal_from_parameters

    raise typer.Exit(heal_from_parameters(typed))
