"""Options of `make`, `resume`, `check`, `script` and `heal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import (
    AllowPackage,
    ChoiceOptions,
    DisplayOptions,
    DryRun,
    FallbackModel,
    GradingOptions,
    KeepBest,
    Markdown,
    MaxCost,
    MaxTokens,
    Model,
    Mutants,
    NewRunOptions,
    Prompts,
    Record,
    Require,
    RunDir,
    RunOptions,
    Sandbox,
    Timeout,
    Verbose,
)
from greenloop.cli.options.declaration import argument, flag, option


@dataclass(frozen=True, kw_only=True)
class MakeOptions(ChoiceOptions, GradingOptions, NewRunOptions):
    """Write code and tests for a specification, and grade them. The default command."""

    examples: ClassVar = (
        'greenloop "Write a function that parses ISO 8601 durations"\n'
        "greenloop make spec.md -o durations.py --require verified\n"
        "greenloop spec.md --tests test_durations.py --max-cost 0.50"
    )

    spec: str = argument("Text, a file, or - for standard input.", names="text", metavar="SPEC")
    tests_output: Path | None = option(
        "Write the tests there; default test_<stem>.py beside the code.", metavar="FILE"
    )
    force: bool = flag("Write over files that greenloop did not write; a copy is kept.", "--force")
    tests: list[Path] | None = option(
        "Your own tests: locked, never edited, always run.", names="path", metavar="FILE"
    )
    keep_best: KeepBest = False
    dry_run: DryRun = False


@dataclass(frozen=True, kw_only=True)
class ResumeOptions(ChoiceOptions, GradingOptions, RunOptions):
    """Continue an interrupted run. Answers that it has are not paid for again."""

    examples: ClassVar = (
        "greenloop resume .greenloop/runs/RUN\n"
        "greenloop resume .greenloop/runs/RUN --answers .greenloop/runs/RUN/choices.md"
    )

    run_dir: Path = argument(
        "The directory of an interrupted run.", names="path", metavar="RUN_DIR"
    )
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions(GradingOptions, DisplayOptions):
    """Run and grade existing code against its tests. No model is called, except for --spec.

    With --diff: the lines of a project that have changed, against all its tests.
    """

    examples: ClassVar = (
        "greenloop check durations.py test_durations.py\n"
        "greenloop check durations.py test_durations.py --watch\n"
        "greenloop check --diff main"
    )

    code: Path | None = argument(
        "The module's file; its stem is the module's name.", None, "path", metavar="CODE"
    )
    tests: list[Path] | None = argument(
        "Test files of pytest, or a folder of them.", None, "path", metavar="TESTS"
    )
    diff: str | None = option(
        "Grade the lines of a project that have changed since this commit.", metavar="REF"
    )
    watch: bool = flag("Check again at each save, at a terminal; with keys.", "--watch")
    root: Path = option(
        "With --diff: the project's folder.", "--in", default=Path(), names="path", metavar="DIR"
    )
    markdown: Markdown = None
    spec: str | None = option(
        "What the code should do, as text, a file or -: a model reads it a second time.",
        names="text",
        metavar="TEXT",
    )
    model: Model = None
    fallback_model: FallbackModel = None
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    record: Record = None
    prompts: Prompts = None
    run_dir: RunDir = None
    timeout: Timeout = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class ScriptRunOptions(NewRunOptions):
    """Options for how a script is run and what its output is checked for."""

    arguments: list[str] | None = argument(
        "Arguments of the script, after --.", None, metavar="ARGS"
    )
    input: list[str] | None = option(
        "A file or folder that the script reads, read-only; may be repeated.", metavar="PATH[=AS]"
    )
    stdin: Path | None = option("The file to use as standard input.", metavar="FILE")
    expect: list[str] | None = option(
        "Text that it must print; may be repeated.", metavar="TEXT|/REGEX/"
    )
    expect_file: list[str] | None = option(
        "A file that it must write: PATH[:non-empty|:rows=N|:json|:csv=COLUMNS].",
        metavar="PATH[:…]",
    )
    expect_json_schema: Path | None = option(
        "Its output is JSON valid under this schema.", metavar="FILE"
    )
    artifacts: Path | None = option("Write the script's output files there.", metavar="DIR")
    allow_network: list[str] | None = option(
        "A host that it may reach; may be repeated. Default: none.", metavar="HOST[:PORT]"
    )


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(ScriptRunOptions):
    """Write a script for a task, run it and check its output. The output is printed."""

    examples: ClassVar = (
        'greenloop script "Sum up sales.csv by region" --input sales.csv\n'
        "greenloop script task.md --expect-file totals.csv:rows=4 -o totals.py"
    )

    task: str = argument("Text, a file, or - for standard input.", names="text", metavar="TASK")
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class HealOptions(ScriptRunOptions):
    """Repair a script until it runs, or a module until its tests pass."""

    examples: ClassVar = (
        "greenloop heal report.py --input sales.csv\n"
        "greenloop heal durations.py --tests test_durations.py --yes\n"
        "greenloop heal durations.py --tests test_durations.py --model none"
    )

    file: Path = argument("The script, or with --tests the module.", names="path", metavar="FILE")
    tests: list[Path] | None = option(
        "Its test files or folder: locked, never edited.", names="path", metavar="PATH"
    )
    yes: bool = flag("Overwrite the file without asking.", "--yes", "-y")
    output: Path | None = option(
        "Write the healed file there; FILE stays as it is.", "--output", "-o", metavar="FILE"
    )
    model: str | None = option(
        "PROVIDER:NAME, replay:FILE, or none: only a search over small edits.", metavar="MODEL"
    )
    seconds: float | None = option(
        "For the search; default 2, without a model 60.", min=0.1, metavar="SECONDS"
    )
    require: Require = None
    mutants: Mutants = None
