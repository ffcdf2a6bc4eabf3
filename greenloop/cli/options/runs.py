"""Options of `make` and `resume`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import DryRun, GradingOptions, KeepBest
from greenloop.cli.options.declaration import argument, flag, option
from greenloop.cli.options.groups import ChoiceOptions, NewRunOptions, RunOptions


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
