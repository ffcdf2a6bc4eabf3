"""The options that commands share, as typer reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

Model = Annotated[
    Optional[str],
    typer.Option(
        "--model", help="PROVIDER:NAME, or replay:FILE for recorded answers.", metavar="NAME"
    ),
]
Fallback = Annotated[
    Optional[str],
    typer.Option("--fallback-model", help="Asked when the first is stuck or down.", metavar="NAME"),
]
Output = Annotated[
    Optional[Path],
    typer.Option("--output", "-o", help="Write the code there; its stem names the module."),
]
TestsOutput = Annotated[
    Optional[Path],
    typer.Option(
        "--tests-output", help="Write the tests there; default test_<stem>.py beside the code."
    ),
]
Tests = Annotated[
    Optional[list[Path]],
    typer.Option("--tests", help="Your own tests: locked, never edited, always run."),
]
Json = Annotated[bool, typer.Option("--json", help="The report as JSON on standard output.")]
RunDir = Annotated[
    Optional[Path],
    typer.Option("--run-dir", help="Where the run keeps its record; default .greenloop/runs/<id>."),
]
Record = Annotated[
    Optional[Path],
    typer.Option("--record", help="Also keep the model's answers as a replay file."),
]
MaxRepairs = Annotated[
    Optional[int],
    typer.Option("--max-repairs", help="Repair iterations; default 5, 0 = none."),
]
Timeout = Annotated[
    Optional[float],
    typer.Option("--timeout", help="Seconds for one test run; default 30."),
]
MaxTokens = Annotated[
    Optional[int],
    typer.Option("--max-tokens", help="Token budget, checked before each call."),
]
MaxCost = Annotated[
    Optional[float],
    typer.Option("--max-cost", help="Budget in US dollars, checked before each call."),
]
Sandbox = Annotated[
    Optional[str],
    typer.Option(
        "--sandbox",
        help="auto, or a backend's name (bubblewrap, native, landlock, …); none: no wall.",
    ),
]
AllowPackage = Annotated[
    Optional[list[str]],
    typer.Option(
        "--allow-package",
        help="Generated code may use this package too: NAME or NAME==1.2.*; may be repeated.",
        metavar="NAME",
    ),
]
Require = Annotated[
    Optional[Literal["verified", "passed"]],
    typer.Option("--require", help="What counts as success; default passed."),
]
KeepBest = Annotated[
    bool, typer.Option("--keep-best", help="Write --output even where the goal was not reached.")
]
Approve = Annotated[
    bool,
    typer.Option(
        "--approve", help="Ask before a file is written: accept, reject, or go on otherwise."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="More progress.")]
Mutants = Annotated[
    Optional[str],
    typer.Option("--mutants", help="How many mutants at most; default 100.", metavar="N|all"),
]


def join_packages(packages: list[str] | None) -> str | None:
    """As the setting has it; None where none was given."""
    return ",".join(packages) if packages else None


_SETTING_BY_PARAMETER = {
    "model": "model",
    "fallback_model": "fallback_model",
    "max_repairs": "max_repairs",
    "timeout": "timeout_s",
    "max_tokens": "max_tokens",
    "max_cost": "max_cost",
    "sandbox": "sandbox",
    "require": "require",
    "mutants": "mutants",
}


def flags_from_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """What was typed, by parameter, as the flags that are settings."""
    flags = {
        setting: parameters[name]
        for name, setting in _SETTING_BY_PARAMETER.items()
        if name in parameters
    }
    return {**flags, "allow_package": join_packages(parameters.get("allow_package"))}
