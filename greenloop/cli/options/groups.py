"""Groups of options of the commands that call a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.cli.options.common import (
    AllowPackage,
    Ask,
    DisplayOptions,
    FallbackModel,
    MaxCost,
    MaxTokens,
    Model,
    Prompts,
    Record,
    RunDir,
    Sandbox,
    Timeout,
    Verbose,
)
from greenloop.cli.options.declaration import flag, option


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Options of commands that call a model."""

    model: Model = None
    fallback_model: FallbackModel = None
    max_repairs: int | None = option("Repair iterations; default 5, 0 = none.", metavar="N")
    timeout: Timeout = None
    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(DisplayOptions, ModelOptions):
    """Options of the commands that run the agent once."""

    run_dir: RunDir = None
    approve: bool = flag(
        "Ask before files are written: accept, reject, edit, or change.", "--approve"
    )
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class NewRunOptions(RunOptions):
    """Options of the commands that begin a run."""

    output: Path | None = option(
        "Write the code there; its stem names the module.", "--output", "-o", metavar="FILE"
    )
    record: Record = None
    prompts: Prompts = None


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """Options for what a specification leaves open."""

    ask: Ask = None
    answers: Path | None = option(
        "The choices.md of a run, or of a lock file, filled in.", metavar="FILE"
    )
    accept_choices: bool = flag(
        "Accept what was chosen where the text leaves something open.", "--accept-choices"
    )


@dataclass(frozen=True, kw_only=True)
class ConcurrencyOptions(ModelOptions):
    """Options of the commands that run many specifications at once."""

    jobs: int = option(
        "Number of runs at once.", "--jobs", "-j", default=4, min=1, max=1000, metavar="N"
    )
    requests_per_minute: int | None = option("Limit for all runs together.", min=1, metavar="N")
    tokens_per_minute: int | None = option("Limit for all runs together.", min=1, metavar="N")
