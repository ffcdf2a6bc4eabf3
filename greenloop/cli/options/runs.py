"""Options of `make`, `resume`, `check`, `script` and `heal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.cli.options.common import (
    AcceptChoices,
    AllowPackage,
    Answers,
    Ask,
    DisplayOptions,
    FallbackModel,
    KeepBest,
    Markdown,
    MaxCost,
    MaxTokens,
    Model,
    Mutants,
    NewRunOptions,
    Peer,
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
class MakeOptions(NewRunOptions):
    """Specification → reviewed, tested, graded code. The default command."""

    spec: str = argument("Text, a file, or - for standard input.")
    tests_output: Path | None = option(
        "Write the tests there; default test_<stem>.py beside the code."
    )
    tests: list[Path] | None = option("Your own tests: locked, never edited, always run.")
    require: Require = None
    mutants: Mutants = None
    peer: Peer = None
    keep_best: KeepBest = False
    ask: Ask = None
    answers: Answers = None
    accept_choices: AcceptChoices = False


@dataclass(frozen=True, kw_only=True)
class ResumeOptions(RunOptions):
    """Continue an interrupted run. Answers that it has are not paid for again."""

    run_dir: Path = argument("The directory of an interrupted run.")
    require: Require = None
    mutants: Mutants = None
    peer: Peer = None
    keep_best: KeepBest = False
    ask: Ask = None
    answers: Answers = None
    accept_choices: AcceptChoices = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions(DisplayOptions):
    """Run and grade existing code against existing tests. Only with --spec a model is called.

    With --diff: the lines of a project that have changed, against all its tests.
    """

    code: Path | None = argument("The module's file; its stem is the module's name.", None)
    tests: list[Path] | None = argument("Test files of pytest, or a folder of them.", None)
    diff: str | None = option(
        "Grade the lines of a project that have changed since this commit.", metavar="REF"
    )
    watch: bool = flag("Check again at each save, at a terminal; with keys.", "--watch")
    root: Path = option("With --diff: the project's folder.", "--in", default=Path(), metavar="DIR")
    markdown: Markdown = None
    spec: str | None = option(
        "What the code should do, as text, a file or -: a model reads it a second time.",
        metavar="TEXT",
    )
    model: Model = None
    fallback_model: FallbackModel = None
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    record: Record = None
    prompts: Prompts = None
    peer: Peer = None
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

    arguments: list[str] | None = argument(
        "Arguments of the script, after --.", None, metavar="ARGS"
    )
    input: list[str] | None = option(
        "A file or folder that the script reads, read-only; may be repeated.", metavar="PATH[=AS]"
    )
    stdin: Path | None = option("The file to use as standard input.")
    expect: list[str] | None = option(
        "Text that it must print; may be repeated.", metavar="TEXT|/REGEX/"
    )
    expect_file: list[str] | None = option(
        "A file that it must write: PATH[:non-empty|:rows=N|:json|:csv=COLUMNS].",
        metavar="PATH[:…]",
    )
    expect_json_schema: Path | None = option("Its output is JSON valid under this schema.")
    artifacts: Path | None = option("Write the script's output files there.")
    allow_network: list[str] | None = option(
        "A host that it may reach; may be repeated. Default: none.", metavar="HOST[:PORT]"
    )


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(ScriptRunOptions):
    """Task → script → run → checked output. The script's output is printed."""

    task: str = argument("Text, a file, or - for standard input.")
    keep_best: KeepBest = False


@dataclass(frozen=True, kw_only=True)
class HealOptions(ScriptRunOptions):
    """Repair an existing script until it runs, or a module until its tests pass."""

    file: Path = argument("The script, or with --tests the module.")
    tests: list[Path] | None = option("Its test files or folder: locked, never edited.")
    yes: bool = flag("Overwrite the file without asking.", "--yes", "-y")
    output: Path | None = option(
        "Write the healed file there; FILE stays as it is.", "--output", "-o"
    )
    model: str | None = option(
        "PROVIDER:NAME, replay:FILE, or none: only a search over single edits.", metavar="NAME"
    )
    seconds: float | None = option("For the search; default 2, without a model 60.", min=0.1)
    require: Require = None
    mutants: Mutants = None
