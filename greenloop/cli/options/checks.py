"""Options of `check`, `gate`, `verify`, `batch` and `eval`."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from greenloop.cli.options.declaration import Names, Options, argument, flag, option
from greenloop.cli.options.shared import (
    GRADING,
    MODEL,
    REPAIRING,
    WRITING,
    ConcurrencyOptions,
    DisplayOptions,
    force,
    install,
    junit,
    markdown,
    project_root,
)


@dataclass(frozen=True, kw_only=True)
class CheckOptions(DisplayOptions):
    """Run and grade existing code against its tests. No model is called, except for --spec.

    Needs a module and its tests. Without files, a git repository: the lines that differ from its
    default branch, or with --diff from a commit, are graded by all tests of the project.
    """

    asks_model: ClassVar[bool] = False
    settings: ClassVar[Names] = (*GRADING, *MODEL, "prompts", "python")
    examples: ClassVar[str] = (
        "greenloop check durations.py test_durations.py\n"
        "greenloop check durations.py test_durations.py --watch\n"
        "greenloop check\n"
        "greenloop check --all"
    )

    code: Path | None = argument("The file of the module.", None, "path", metavar="CODE")
    tests: list[Path] | None = argument(
        "Its test files, or folders with test files.", None, "path", metavar="TESTS"
    )
    diff: str | None = option(
        "Grade the lines of a project that have changed since this commit.", "REF", "Evidence"
    )
    tracked: bool = flag("With --diff: leave out files that git does not track.", "Evidence")
    watch: bool = flag("Check again at each save (at a terminal).")
    every: bool = flag(
        "Grade every module of the project, or of the folder CODE, and list the weakest first. The "
        "same command continues what was interrupted.",
        "Evidence",
        "--all",
    )
    root: Path = project_root("The project's folder, if no files are named.")
    install: bool = install("--yes")
    output_format: Literal["text", "json", "github", "junit", "sarif", "markdown"] = option(
        "How to print the result; github: annotations on the lines.",
        "text|json|github|junit|sarif|markdown",
        default="text",
    )
    markdown: str | None = markdown()
    spec: str | None = option(
        "What the code should do, as text, a file or -. A model writes a second implementation from it "
        "to compare with.",
        "TEXT",
        "Evidence",
        names="text",
    )
    record: Path | None = option(
        "Also write the answers of the model to this file, for replay.", "FILE", "Model"
    )
    run_dir: Path | None = option(
        "Folder for the record of the run; default: .greenloop/runs/<id>.", "DIR"
    )
    verbose: bool = flag("Print more progress.", "Output", "--verbose", "-v")


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Check the change of a coding agent when it stops, and tell it what to fix.

    Needs a git repository; `greenloop init --agent NAME` sets it up. With `--agent` it reads the
    agent's stop event from standard input, if there is one, and answers in its format. No model is
    called.
    """

    settings: ClassVar[Names] = ("timeout_s", "sandbox", "mutants", "allow_package")
    examples: ClassVar[str] = "greenloop gate\ngreenloop gate --agent claude --base origin/main"

    base: str | None = option(
        "The commit at which the work began; default: the last one before the agent's session, else "
        "the one that init --agent or the last passed gate stored, else HEAD.",
        "REF",
        "Options",
    )
    time: float | None = option(
        "Time limit in seconds (default: 60, more on a busy machine); what is not measured by then does not block.",
        "S",
        "Options",
        min=1.0,
    )
    tries: int = option(
        "How often the same piece of work may be blocked.", "N", "Options", default=2, min=0
    )
    agent: Literal["claude", "codex", "cursor", "openhands", "text"] = option(
        "The format of the answer; text: exit status 1 if something is to be fixed.",
        "claude|codex|cursor|openhands|text",
        "Options",
        default="text",
    )
    root: Path = project_root()


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(DisplayOptions):
    """Check that code and tests are unchanged since they were graded, and grade them again.

    Needs the lock files that `make --output`, `change --output` and `batch` write. No model is called.
    A verdict below that of the lock file is a difference, whatever --require asks for.
    """

    settings: ClassVar[Names] = ("timeout_s", "sandbox", "require", "mutants", "python")
    examples: ClassVar[str] = "greenloop verify\ngreenloop verify src --digests-only"

    locks: list[Path] | None = argument(
        "Lock files (*.greenloop.json), or folders with some; default: the working folder.",
        None,
        "path",
        metavar="LOCKS",
    )
    digests_only: bool = flag("Compare digests only; run nothing.", "Evidence")
    markdown: str | None = markdown()
    junit: str | None = junit()


@dataclass(frozen=True, kw_only=True)
class BatchOptions(ConcurrencyOptions):
    """Run many specifications at once. Run the same command again to continue a batch.

    Needs a model: --model, GREENLOOP_MODEL, or the key of a provider.
    """

    settings: ClassVar[Names] = (*GRADING, *REPAIRING, *WRITING, "prompts")
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
        "Write code, tests and lock files to this folder.", "DIR", "Output", "--output-dir", "-o"
    )
    run_dir: Path | None = option(
        "Folder for results and runs; by default the same one each time.", "DIR"
    )
    markdown: str | None = markdown()
    junit: str | None = junit()
    github_output: Path | None = option(
        "Append counts and changed files in the format of $GITHUB_OUTPUT.", "FILE"
    )
    force: bool = force()
    engine: str = option(
        "Where the runs are executed: local (this process), ray (the nodes of a Ray cluster), or an "
        "executor of an installed package.",
        "NAME",
        "Sandbox",
        default="local",
    )
    address: str | None = option(
        "HOST:PORT of the Ray cluster, or auto; default: $RAY_ADDRESS, or else a new cluster.",
        "ADDRESS",
        "Sandbox",
    )


@dataclass(frozen=True, kw_only=True)
class EvalOptions(ConcurrencyOptions):
    """Measure a model on tasks with hidden tests, and how often its verdicts are wrong.

    Needs a model, except for --check-tasks.
    """

    settings: ClassVar[Names] = (*REPAIRING, *WRITING, "mutants", "peer")
    examples: ClassVar[str] = (
        "greenloop eval tasks.jsonl --model ollama:qwen3-coder --limit 20\n"
        "greenloop eval tasks.jsonl --check-tasks"
    )

    tasks: Path = argument(
        "A .jsonl (or .jsonl.gz, .json) of tasks, or a folder of exercises.",
        names="path",
        metavar="TASKS",
    )
    format: str = option(
        "auto (by the tasks' keys), greenloop, humaneval, mbpp, evalplus, exercism, or the name of "
        "a plugin.",
        "NAME",
        "Options",
        default="auto",
    )
    check_tasks: bool = flag(
        "Run the solutions that come with the tasks. No model is called.", "Options"
    )
    limit: int | None = option("Only the first N tasks.", "N", "Options", min=1)
    leave_out: list[str] | None = option("A task to skip; may be repeated.", "ID", "Options")
    run_dir: Path | None = option(
        "Folder for results and runs; by default the same one each time.", "DIR"
    )
    markdown: str | None = markdown()
