"""Options of `batch` and `eval`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.common import (
    DisplayOptions,
    GradingOptions,
    Junit,
    Markdown,
    Mutants,
    Peer,
    Prompts,
)
from greenloop.cli.options.declaration import argument, flag, option
from greenloop.cli.options.groups import ConcurrencyOptions


@dataclass(frozen=True, kw_only=True)
class BatchOptions(GradingOptions, ConcurrencyOptions, DisplayOptions):
    """Run many specifications at once. The same command again continues the batch."""

    examples: ClassVar = (
        "greenloop batch specs --output-dir src\n"
        "greenloop batch specs -o src --jobs 8 --max-cost 5 --require verified"
    )

    specs: list[str] = argument(
        "Files, folders, a .jsonl of {id, spec, tests?, output?}, or -.",
        names="text",
        metavar="SPECS",
    )
    output_dir: Path | None = option(
        "Write code, tests and lock files there.", "--output-dir", "-o", metavar="DIR"
    )
    run_dir: str | None = option(
        "Where results and runs are kept; found again by default. With --engine ray also a bucket: "
        "s3://…, or any other address that fsspec knows.",
        metavar="DIR",
    )
    prompts: Prompts = None
    markdown: Markdown = None
    junit: Junit = None
    github_output: Path | None = option(
        "Append counts and changed files, as to $GITHUB_OUTPUT.", metavar="FILE"
    )
    force: bool = flag("Write over files that greenloop did not write; a copy is kept.", "--force")
    engine: str = option(
        "Where the runs are executed: local (this process), ray (the nodes of a Ray cluster), or an "
        "executor of an installed package.",
        default="local",
        metavar="NAME",
    )
    address: str | None = option(
        "HOST:PORT of the Ray cluster, or auto; default $RAY_ADDRESS, else new.", metavar="ADDRESS"
    )


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ConcurrencyOptions, DisplayOptions):
    """Measure a model on tasks with hidden tests, and how often its verdicts are wrong."""

    examples: ClassVar = (
        "greenloop eval tasks.jsonl --model ollama:qwen3-coder --limit 20\n"
        "greenloop eval tasks.jsonl --check-tasks\n"
        "greenloop eval --compare before.json after.json"
    )

    tasks: Path | None = argument(
        "A .jsonl (or .jsonl.gz, .json) of tasks, or a folder of exercises.",
        None,
        "path",
        metavar="TASKS",
    )
    format: str = option(
        "auto (by the tasks' keys), greenloop, humaneval, mbpp, evalplus, exercism, or the name of "
        "a plugin.",
        default="auto",
        metavar="NAME",
    )
    compare: tuple[Path, Path] | None = option(
        "Two evaluations: folders, or the output of --json.", metavar="A B"
    )
    check_tasks: bool = flag("Run the data's own solutions. No model is called.", "--check-tasks")
    limit: int | None = option("Only the first N tasks.", min=1, metavar="N")
    leave_out: list[str] | None = option("A task to skip; may be repeated.", metavar="ID")
    run_dir: Path | None = option(
        "Where results and runs are kept; found again by default.", metavar="DIR"
    )
    mutants: Mutants = None
    peer: Peer = None
    markdown: Markdown = None
