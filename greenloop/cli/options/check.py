"""Options of `check` and `verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import (
    AllowPackage,
    DisplayOptions,
    FallbackModel,
    GradingOptions,
    Junit,
    Markdown,
    MaxCost,
    MaxTokens,
    Model,
    Mutants,
    Prompts,
    Record,
    Require,
    RunDir,
    Sandbox,
    Timeout,
    Verbose,
)
from greenloop.cli.options.declaration import argument, flag, option


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
class VerifyOptions(DisplayOptions):
    """Check that code and tests are those that were graded, and that the grade still holds."""

    examples: ClassVar = "greenloop verify\ngreenloop verify src --digests-only"

    locks: list[Path] | None = argument(
        "Lock files, or folders with some; default: the working folder.",
        None,
        "path",
        metavar="LOCKS",
    )
    digests_only: bool = flag("Compare digests; run nothing.", "--digests-only")
    timeout: Timeout = None
    sandbox: Sandbox = None
    require: Require = None
    mutants: Mutants = None
    markdown: Markdown = None
    junit: Junit = None
