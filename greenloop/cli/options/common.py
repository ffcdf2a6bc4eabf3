"""Options that several commands share, and the groups of them that most have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from greenloop.cli.options.declaration import flag

Json = Annotated[bool, Option("--json", help="The report as JSON on standard output.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="More progress.")]
RunDir = Annotated[
    Path | None,
    Option(help="Where the run keeps its record; default .greenloop/runs/<id>.", metavar="DIR"),
]
KeepBest = Annotated[
    bool, Option("--keep-best", help="Write --output even where the goal was not reached.")
]
Model = Annotated[
    str | None, Option(help="PROVIDER:NAME, or replay:FILE for recorded answers.", metavar="MODEL")
]
FallbackModel = Annotated[
    str | None, Option(help="Used when the first is stuck or down.", metavar="MODEL")
]
MaxTokens = Annotated[
    int | None, Option(help="Token budget, checked before each call.", metavar="N")
]
MaxCost = Annotated[
    float | None, Option(help="Budget in US dollars, checked before each call.", metavar="USD")
]
Record = Annotated[
    Path | None, Option(help="Also write the model's answers to a replay file.", metavar="FILE")
]
Timeout = Annotated[
    float | None, Option(help="Time limit of one test run; default 30.", metavar="SECONDS")
]
Sandbox = Annotated[
    str | None,
    Option(
        help="auto, or a backend's name (bubblewrap, native, landlock, …); none: no isolation.",
        metavar="KIND",
    ),
]
AllowPackage = Annotated[
    list[str] | None,
    Option(
        help="Code and tests may use this package too: NAME or NAME==1.2.*; may be repeated.",
        metavar="NAME",
    ),
]
Require = Annotated[
    Literal["verified", "passed"] | None,
    Option(help="What counts as success; default passed.", metavar="verified|passed"),
]
Mutants = Annotated[
    str | None, Option(help="Maximum number of mutants; default 100.", metavar="N|all")
]
Prompts = Annotated[
    str | None, Option(help="Templates in this folder replace greenloop's.", metavar="DIR")
]
Peer = Annotated[
    bool | None, Option(" /--no-peer", help="No second reading of the text; then at most passed.")
]
Ask = Annotated[
    Literal["terminal", "never"] | None,
    Option(
        help="Whether to ask what the text leaves open; default: at a terminal.",
        metavar="terminal|never",
    ),
]
DryRun = Annotated[bool, Option("--dry-run", help="Print what the run would cost; call no model.")]
Markdown = Annotated[
    str | None, Option(help="Write a summary as Markdown; - is standard output.", metavar="FILE")
]
Junit = Annotated[
    str | None,
    Option(help="Write JUnit XML: a case for each specification or lock file.", metavar="FILE"),
]


@dataclass(frozen=True, kw_only=True)
class DisplayOptions:
    """Options for what is printed."""

    json: Json = False
    quiet: bool = flag("No progress.", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class GradingOptions:
    """Options for how code is graded, and what it has to reach."""

    require: Require = None
    mutants: Mutants = None
    peer: Peer = None
