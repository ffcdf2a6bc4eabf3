"""Options of `script` and `heal`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import KeepBest, Mutants, Require
from greenloop.cli.options.declaration import argument, flag, option
from greenloop.cli.options.groups import NewRunOptions


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
