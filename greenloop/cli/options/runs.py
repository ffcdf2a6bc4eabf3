"""Options of `make`, `resume`, `check`, `script` and `heal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from greenloop.cli.options.common import (
    AllowPackage,
    DisplayOptions,
    KeepBest,
    Mutants,
    NewRunOptions,
    Require,
    RunDir,
    RunOptions,
    Sandbox,
    Timeout,
    Verbose,
)
from greenloop.cli.options.declaration import Setting


@dataclass(frozen=True, kw_only=True)
class MakeOptions(NewRunOptions):
    """Specification → reviewed, tested, graded code. The default command."""

    spec: Annotated[str, typer.Argument(help="Text, a file, or - for standard input.")]
    tests_output: Annotated[
        Path | None,
        typer.Option(
            "--tests-output", help="Write the tests there; default test_<stem>.py beside the code."
        ),
    ] = None
    tests: Annotated[
        list[Path] | None,
        typer.Option("--tests", help="Your own tests: locked, never edited, always run."),
    ] = None
    require: Require = None
    mutants: Mutants = None
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class ResumeOptions(RunOptions):
    """Continue an interrupted run. Answers that it has are not paid for again."""

    run_dir: Annotated[Path, typer.Argument(help="The directory of an interrupted run.")]
    require: Require = None
    mutants: Mutants = None
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions(DisplayOptions):
    """Run and grade existing code against existing tests. No model is called."""

    code: Annotated[Path, typer.Argument(help="The module's file; its stem is the module's name.")]
    tests: Annotated[list[Path], typer.Argument(help="Test files of pytest, or a folder of them.")]
    run_dir: RunDir = None
    timeout: Timeout = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None
    require: Require = None
    mutants: Mutants = None
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class ScriptRunOptions(NewRunOptions):
    """Options for how a script is run and what its output is checked for."""

    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="Arguments of the script, after --.", metavar="ARGS"),
    ] = None
    input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="A file or folder that the script reads, read-only; may be repeated.",
            metavar="PATH[=AS]",
        ),
    ] = None
    stdin: Annotated[
        Path | None, typer.Option("--stdin", help="The file to use as standard input.")
    ] = None
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect", help="Text that it must print; may be repeated.", metavar="TEXT|/REGEX/"
        ),
    ] = None
    expect_file: Annotated[
        list[str] | None,
        typer.Option(
            "--expect-file",
            help="A file that it must write: PATH[:non-empty|:rows=N|:json|:csv=COLUMNS].",
            metavar="PATH[:…]",
        ),
    ] = None
    expect_json_schema: Annotated[
        Path | None,
        typer.Option("--expect-json-schema", help="Its output is JSON valid under this schema."),
    ] = None
    artifacts: Annotated[
        Path | None, typer.Option("--artifacts", help="Write the script's output files there.")
    ] = None
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-network",
            help="A host that it may reach; may be repeated. Default: none.",
            metavar="HOST[:PORT]",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(ScriptRunOptions):
    """Task → script → run → checked output. The script's output is printed."""

    task: Annotated[str, typer.Argument(help="Text, a file, or - for standard input.")]
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class HealOptions(ScriptRunOptions):
    """Repair an existing script until it runs, or a module until its tests pass."""

    file: Annotated[Path, typer.Argument(help="The script, or with --tests the module.")]
    tests: Annotated[
        list[Path] | None,
        typer.Option("--tests", help="Its test files or folder: locked, never edited."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Overwrite the file without asking.")] = (
        False
    )
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the healed file there; FILE stays as it is."),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="PROVIDER:NAME, replay:FILE, or none: only a search over single edits.",
            metavar="NAME",
        ),
        Setting("model"),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.1, help="For the search; default 2, without a model 60."),
    ] = None
    require: Require = None
    mutants: Mutants = None
