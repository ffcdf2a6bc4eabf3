"""Options of the commands that grade what exists, or many specifications."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from greenloop.cli.options.declaration import Names, Options, argument, flag, option
from greenloop.cli.options.shared import (
    GRADING,
    MODEL,
    REPAIRING,
    ConcurrencyOptions,
    DisplayOptions,
    force,
    junit,
    markdown,
    project_root,
)


@dataclass(frozen=True, kw_only=True)
class CheckOptions(DisplayOptions):
    """Run and grade existing code against its tests. No model is called, except for --spec.

    Without files: the lines of a project that differ from its default branch, or with --diff from
    a commit, against all its tests.
    """

    asks_model: ClassVar[bool] = False
    settings: ClassVar[Names] = (*GRADING, *MODEL, "prompts", "python")
    examples: ClassVar[str] = (
        "greenloop check durations.py test_durations.py\n"
        "greenloop check durations.py test_durations.py --watch\n"
        "greenloop check\n"
        "greenloop check --all"
    )

    code: Path | None = argument(
        "The module's file; its stem is the module's name.", None, "path", metavar="CODE"
    )
    tests: list[Path] | None = argument(
        "Test files of pytest, or a folder of them.", None, "path", metavar="TESTS"
    )
    diff: str | None = option(
        "Grade the lines of a project that have changed since this commit.",
        metavar="REF",
        panel="Evidence",
    )
    watch: bool = flag("Check again at each save, at a terminal.", "--watch")
    every: bool = flag(
        "Grade every module of the project, or of the folder CODE; the weakest first. The same "
        "command again goes on.",
        "--all",
        panel="Evidence",
    )
    root: Path = project_root("With --diff or --all: the project's folder.")
    output_format: Literal["text", "json", "github", "junit", "sarif", "markdown"] = option(
        "How the result is printed; github: annotations on the lines. Default: text.",
        default="text",
        metavar="text|json|github|junit|sarif|markdown",
    )
    markdown: str | None = markdown()
    spec: str | None = option(
        "What the code should do, as text, a file or -: a model reads it a second time.",
        names="text",
        metavar="TEXT",
        panel="Evidence",
    )
    record: Path | None = option(
        "Also write the model's answers to a replay file.", metavar="FILE", panel="Model"
    )
    run_dir: Path | None = option(
        "Where the run keeps its record; default .greenloop/runs/<id>.", metavar="DIR"
    )
    verbose: bool = flag("More progress.", "--verbose", "-v")


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Tell a coding agent that says it is done what its change still lacks. No model is called.

    Reads the agent's stop event from standard input, if there is one, and answers in its form.
    """

    settings: ClassVar[Names] = ("timeout_s", "sandbox", "mutants", "allow_package")
    examples: ClassVar[str] = "greenloop gate\ngreenloop gate --agent claude --base origin/main"

    base: str | None = option(
        "The commit that the work began at; default: that of the agent's first stop, else HEAD.",
        metavar="REF",
        panel="Options",
    )
    time: float = option(
        "Seconds for the measurement; what is not measured by then is left out.",
        default=60.0,
        min=1.0,
        metavar="S",
        panel="Options",
    )
    tries: int = option(
        "How often one piece of work is blocked at the most.",
        default=2,
        min=0,
        metavar="N",
        panel="Options",
    )
    agent: str = option(
        "The form of the answer: claude, codex, cursor, or text (status 1 blocks).",
        default="text",
        metavar="NAME",
        panel="Options",
    )
    root: Path = project_root()


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DisplayOptions):
    """Check that code and tests are those that were graded, and that the grade still holds."""

    settings: ClassVar[Names] = ("timeout_s", "sandbox", "require", "mutants", "python")
    examples: ClassVar[str] = "greenloop verify\ngreenloop verify src --digests-only"

    locks: list[Path] | None = argument(
        "Lock files, or folders with some; default: the working folder.",
        None,
        "path",
        metavar="LOCKS",
    )
    digests_only: bool = flag("Compare digests; run nothing.", "--digests-only", panel="Evidence")
    markdown: str | None = markdown()
    junit: str | None = junit()


@dataclass(frozen=True, kw_only=True)
class BatchOptions(ConcurrencyOptions):
    """Run many specifications at once. The same command again continues the batch."""

    settings: ClassVar[Names] = (*GRADING, *REPAIRING, "prompts")
    examples: ClassVar[str] = (
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
    markdown: str | None = markdown()
    junit: str | None = junit()
    github_output: Path | None = option(
        "Append counts and changed files, as to $GITHUB_OUTPUT.", metavar="FILE"
    )
    force: bool = force()
    engine: str = option(
        "Where the runs are executed: local (this process), ray (the nodes of a Ray cluster), or an "
        "executor of an installed package.",
        default="local",
        metavar="NAME",
        panel="Sandbox",
    )
    address: str | None = option(
        "HOST:PORT of the Ray cluster, or auto; default $RAY_ADDRESS, else new.",
        metavar="ADDRESS",
        panel="Sandbox",
    )


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ConcurrencyOptions):
    """Measure a model on tasks with hidden tests, and how often its verdicts are wrong."""

    settings: ClassVar[Names] = (*REPAIRING, "mutants", "peer")
    examples: ClassVar[str] = (
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
        panel="Options",
    )
    compare: tuple[Path, Path] | None = option(
        "Two evaluations: folders, or the output of --json.", metavar="A B", panel="Options"
    )
    check_tasks: bool = flag(
        "Run the data's own solutions. No model is called.", "--check-tasks", panel="Options"
    )
    limit: int | None = option("Only the first N tasks.", min=1, metavar="N", panel="Options")
    leave_out: list[str] | None = option(
        "A task to skip; may be repeated.", metavar="ID", panel="Options"
    )
    run_dir: Path | None = option(
        "Where results and runs are kept; found again by default.", metavar="DIR"
    )
    markdown: str | None = markdown()
