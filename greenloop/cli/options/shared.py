"""Options that several commands share, and the settings that they take as options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from greenloop.cli.options.declaration import Names, Options, flag, option

GRADING = ("require", "mutants", "peer")
SANDBOX = ("timeout_s", "sandbox", "allow_package")
MODEL_ALONE = ("model", "fallback_model", "max_tokens", "max_cost")
MODEL = (*MODEL_ALONE, *SANDBOX)
REPAIRING = (*MODEL, "max_repairs")
WRITING = ("profile", "samples")  # of a module, from a text


def keep_best() -> Any:
    """Declare `--keep-best`."""
    return flag(
        "Write --output even if the code does not reach the required verdict.",
        "Output",
        "--keep-best",
    )


def install(*others: str) -> Any:
    """Declare `--install`."""
    return flag(
        "If the project has no environment, install the packages that it declares into one in "
        "greenloop's cache, which later runs use too.",
        "Output",
        "--install",
        *others,
    )


def dry_run() -> Any:
    """Declare `--dry-run`."""
    help = "Print what the run would cost, without a model call."
    return flag(help, "Budget", "--dry-run")


def force() -> Any:
    """Declare `--force`."""
    return flag(
        "Overwrite files that greenloop did not write; a copy is kept.", "Output", "--force"
    )


def markdown() -> Any:
    """Declare `--markdown FILE`."""
    return option("Write a summary as Markdown; - is standard output.", "FILE")


def junit() -> Any:
    """Declare `--junit FILE`."""
    return option("Write JUnit XML, with a test case for each specification or lock file.", "FILE")


def given_tests(help: str, metavar: str) -> Any:
    """Declare `--tests PATH`, which may be repeated."""
    return option(help, metavar, "Evidence", names="path")


def project_root(help: str = "The project's folder.") -> Any:
    """Declare `--in DIR`."""
    return option(help, "DIR", "Options", "--in", default=Path(), names="path")


@dataclass(frozen=True, kw_only=True)
class DisplayOptions(Options):
    """Options for what is printed."""

    json: bool = flag(
        "Print the result as JSON: the report, in batch the totals, in eval the evaluation, in verify "
        "and check --all a list."
    )
    quiet: bool = flag("Print no progress.", "Output", "--quiet", "-q")


@dataclass(frozen=True, kw_only=True)
class RunOptions(DisplayOptions):
    """Options of the commands that run the agent once."""

    settings: ClassVar[Names] = REPAIRING

    run_dir: Path | None = option(
        "Folder for the record of the run; default: .greenloop/runs/<id>.", "DIR"
    )
    approve: bool = flag(
        "Ask before files are written: accept, reject, or describe a change in words."
    )
    verbose: bool = flag("Print more progress.", "Output", "--verbose", "-v")


@dataclass(frozen=True, kw_only=True)
class NewRunOptions(RunOptions):
    """Options of the commands that start a new run."""

    settings: ClassVar[Names] = (*REPAIRING, "prompts")

    output: Path | None = option(
        "Write the code to this file, which also names the module.",
        "FILE",
        "Output",
        "--output",
        "-o",
    )
    record: Path | None = option(
        "Also write the answers of the model to this file, for replay.", "FILE", "Model"
    )


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions(Options):
    """Options for what a specification leaves open."""

    answers: Path | None = option(
        "Answers to open questions: the filled-in choices.md of a run.", "FILE", "Model"
    )
    accept_choices: bool = flag(
        "Accept what was assumed where the text leaves something open.", "Model"
    )


@dataclass(frozen=True, kw_only=True)
class ConcurrencyOptions(DisplayOptions):
    """Options of the commands that run many specifications at once."""

    jobs: int = option(
        "Number of runs at once.", "N", "Budget", *("--jobs", "-j"), default=4, min=1, max=1000
    )
    requests_per_minute: int | None = option("Limit for all runs together.", "N", "Budget", min=1)
    tokens_per_minute: int | None = option("Limit for all runs together.", "N", "Budget", min=1)
