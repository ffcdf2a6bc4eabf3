"""Options of `change`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import Ask, DryRun, GradingOptions, KeepBest
from greenloop.cli.options.declaration import argument, flag, option
from greenloop.cli.options.groups import NewRunOptions


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(GradingOptions, NewRunOptions):
    """Change an existing project as asked, and grade the patch with its new tests.

    Nothing of the project changes without --apply or --branch.
    """

    examples: ClassVar = (
        'greenloop change "Accept lower-case units" --in . -o change.patch\n'
        'greenloop change "Fix the crash" --issue traceback.txt --branch fix-crash\n'
        'greenloop change "Accept lower-case units" --dry-run'
    )

    wish: str = argument(
        "What should be different, as text, a file, or - for standard input.",
        "",
        names="text",
        metavar="WISH",
    )
    root: Path = option(
        "The project's folder.", "--in", default=Path(), names="path", metavar="DIR"
    )
    issue: Path | None = option(
        "A file with more about the wish: an issue, a traceback.", names="path", metavar="FILE"
    )
    tests: list[Path] | None = option(
        "Your own tests of the change, files or folders; then none are written.",
        names="path",
        metavar="PATH",
    )
    fence: list[str] | None = option(
        "A glob of files that may be changed; may be repeated.", metavar="GLOB"
    )
    may_change: list[str] | None = option(
        "A test that the wish may contradict: PATH::NAME; may be repeated.", metavar="TEST"
    )
    no_baseline: bool = flag(
        "Go on without the project's tests; then at most passed.", "--no-baseline"
    )
    output: Path | None = option("Write the patch there.", "--output", "-o", metavar="FILE")
    apply: bool = flag(
        "Change the files of the project; at a terminal it is asked first.", "--apply"
    )
    branch: str | None = option("Commit the change on this new branch.", metavar="NAME")
    run_hooks: bool = flag("With --branch: run the project's git hooks and filters.", "--run-hooks")
    dry_run: DryRun = False
    keep_best: KeepBest = False
    ask: Ask = None
