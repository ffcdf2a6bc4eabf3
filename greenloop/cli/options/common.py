"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from greenloop.cli.options.declaration import Setting

Json = Annotated[bool, typer.Option("--json", help="The report as JSON on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="More progress.")]
RunDir = Annotated[
    Path | None,
    typer.Option("--run-dir", help="Where the run keeps its record; default .greenloop/runs/<id>."),
]
KeepBest = Annotated[
    bool, typer.Option("--keep-best", help="Write --output even where the goal was not reached.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", help="PROVIDER:NAME, or replay:FILE for recorded answers.", metavar="NAME"
    ),
    Setting("model"),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds for one test run; default 30."),
    Setting("timeout_s"),
]
Sandbox = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        help="auto, or a backend's name (bubblewrap, native, landlock, …); none: no isolation.",
    ),
    Setting("sandbox"),
]
AllowPackage = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-package",
        help="Code and tests may use this package too: NAME or NAME==1.2.*; may be repeated.",
        metavar="NAME",
    ),
    Setting("allow_package"),
]
Require = Annotated[
    Literal["verified", "passed"] | None,
    typer.Option("--require", help="What counts as success; default passed."),
    Setting("require"),
]
Mutants = Annotated[
    str | None,
    typer.Option("--mutants", help="Maximum number of mutants; default 100.", metavar="N|all"),
    Setting("mutants"),
]
Prompts = Annotated[
    str | None,
    typer.Option("--prompts", help="Templates in this folder replace greenloop's.", metavar="DIR"),
    Setting("prompts"),
]
Markdown = Annotated[
    str | None, typer.Option(help="Write a summary as Markdown; - is standard output.")
]
Junit = Annotated[
    str | None, typer.Option(help="Write JUnit XML: a case for each specification or lock file.")
]


@dataclass(frozen=True, kw_only=True)
class DisplayOptions:
    """Options for what is printed."""

    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Options of commands that call a model."""

    model: Model = None
    fallback_model: Annotated[
        str | None,
        typer.Option(
            "--fallback-model", help="Used when the first is stuck or down.", metavar="NAME"
        ),
        Setting("fallback_model"),
    ] = None
    max_repairs: Annotated[
        int | None,
        typer.Option("--max-repairs", help="Repair iterations; default 5, 0 = none."),
        Setting("max_repairs"),
    ] = None
    timeout: Timeout = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", help="Token budget, checked before each call."),
        Setting("max_tokens"),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Budget in US dollars, checked before each call."),
        Setting("max_cost"),
    ] = None
    sandbox: Sandbox = None
    allow_package: AllowPackage = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(DisplayOptions, ModelOptions):
    """Options of the commands that run the agent once."""

    run_dir: RunDir = None
    approve: Annotated[
        bool,
        typer.Option(
            "--approve", help="Ask before files are written: accept, reject, edit, or change."
        ),
    ] = False
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class NewRunOptions(RunOptions):
    """Options of the commands that begin a run."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the code there; its stem names the module."),
    ] = None
    record: Annotated[
        Path | None,
        typer.Option("--record", help="Also write the model's answers to a replay file."),
    ] = None
    prompts: Prompts = None


@dataclass(frozen=True, kw_only=True)
class ConcurrencyOptions(ModelOptions):
    """Options of the commands that run many specifications at once."""

    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=1000, help="Number of runs at once.")
    ] = 4
    requests_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Limit for all runs together.")
    ] = None
    tokens_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Limit for all runs together.")
    ] = None
