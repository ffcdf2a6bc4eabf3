"""Options of the commands that run the agent once: `make`, `resume`, `script`, `heal`, `change`."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from greenloop.cli.options.declaration import Names, argument, flag, option
from greenloop.cli.options.shared import (
    GRADING,
    REPAIRING,
    WRITING,
    ChoiceOptions,
    NewRunOptions,
    RunOptions,
    dry_run,
    force,
    given_tests,
    install,
    keep_best,
    project_root,
)


@dataclass(frozen=True, kw_only=True)
class MakeOptions(ChoiceOptions, NewRunOptions):
    """Write code and tests for a specification, and grade them. This is the default command.

    Needs a model: --model, GREENLOOP_MODEL, or the key of a provider. `greenloop doctor` shows which one.
    """

    settings: ClassVar[Names] = (*REPAIRING, *WRITING, *GRADING, "prompts", "ask")
    examples: ClassVar[str] = (
        'greenloop "Write a function that parses ISO 8601 durations"\n'
        "greenloop make spec.md -o durations.py --require verified\n"
        "greenloop spec.md --tests test_durations.py --max-cost 0.50"
    )

    spec: str = argument(
        "The specification: text, a file, or - for standard input.", names="text", metavar="SPEC"
    )
    tests_output: Path | None = option(
        "Write the tests to this file; default: test_<module>.py beside the code.", "FILE"
    )
    force: bool = force()
    tests: list[Path] | None = given_tests(
        "Your own tests, which are always run and never edited.", "FILE"
    )
    keep_best: bool = keep_best()
    dry_run: bool = dry_run()


@dataclass(frozen=True, kw_only=True)
class ResumeOptions(ChoiceOptions, RunOptions):
    """Continue an interrupted run, without paying for the same answers again.

    Needs a model, as the run did.
    """

    settings: ClassVar[Names] = (*REPAIRING, *WRITING, *GRADING, "ask")
    examples: ClassVar[str] = (
        "greenloop resume\n"
        "greenloop resume .greenloop/runs/RUN --answers .greenloop/runs/RUN/choices.md"
    )

    run_dir: Path | None = argument(
        "The folder of an interrupted run; default: the latest, with answers also one with open questions.",
        None,
        "path",
        metavar="RUN_DIR",
    )
    keep_best: bool = keep_best()


@dataclass(frozen=True, kw_only=True)
class ScriptRunOptions(NewRunOptions):
    """Options for how a script is run and what its output is checked for."""

    arguments: list[str] | None = argument(
        "Arguments of the script, after --.", None, metavar="ARGS"
    )
    input: list[str] | None = option(
        "A file or folder that the script reads, read-only; may be repeated. Of a folder, generated "
        "files and those that may hold secrets are left out.",
        "PATH[=AS]",
        "Sandbox",
    )
    stdin: Path | None = option("The file to use as standard input.", "FILE", "Sandbox")
    expect: list[str] | None = option(
        "Text that the script must print; may be repeated.", "TEXT|/REGEX/", "Evidence"
    )
    expect_file: list[str] | None = option(
        "A file that the script must write: PATH[:non-empty|:rows=N|:json|:csv=COLUMNS]; may be "
        "repeated.",
        "PATH[:…]",
        "Evidence",
    )
    expect_json_schema: Path | None = option(
        "JSON Schema of what the script must print.", "FILE", "Evidence"
    )
    artifacts: Path | None = option("Write the output files of the script to this folder.", "DIR")


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(ScriptRunOptions):
    """Write a script for a task, run it and check its output. The output is printed.

    Needs a model: --model, GREENLOOP_MODEL, or the key of a provider.
    """

    examples: ClassVar[str] = (
        'greenloop script "Sum up sales.csv by region" --input sales.csv\n'
        "greenloop script task.md --expect-file totals.csv:rows=4 -o totals.py"
    )

    task: str = argument(
        "The task: text, a file, or - for standard input.", names="text", metavar="TASK"
    )
    keep_best: bool = keep_best()


@dataclass(frozen=True, kw_only=True)
class HealOptions(ScriptRunOptions):
    """Repair a script until it runs, or a module until its tests pass.

    A module is first repaired by a search, without a model; --model none uses nothing else. A model
    is called only for what is broken and not repaired by then.
    """

    settings: ClassVar[Names] = (*REPAIRING, "prompts", "require", "mutants", "python")
    examples: ClassVar[str] = (
        "greenloop heal report.py --input sales.csv\n"
        "greenloop heal durations.py --tests test_durations.py --yes\n"
        "greenloop heal durations.py --tests test_durations.py --model none"
    )

    file: Path = argument("The script, or with --tests the module.", names="path", metavar="FILE")
    tests: list[Path] | None = given_tests(
        "The tests of the module, files or folders, which are never edited.", "PATH"
    )
    yes: bool = flag("Overwrite the file without asking.", "Output", "--yes", "-y")
    install: bool = install()
    output: Path | None = option(
        "Write the repaired code to this file; FILE stays as it is.",
        "FILE",
        "Output",
        "--output",
        "-o",
    )
    seconds: float | None = option(
        "CPU seconds of the search for a repair without a model; default: 2, or 60 with --model none.",
        "SECONDS",
        "Budget",
        min=0.1,
    )


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(NewRunOptions):
    """Change a project as described, and grade the patch with its new tests.

    Needs a model, a project, and the packages that its tests import. The project stays as it is
    without --apply or --branch.
    """

    settings: ClassVar[Names] = (*REPAIRING, *GRADING, "prompts", "ask", "python")
    examples: ClassVar[str] = (
        'greenloop change "Accept lower-case units" --in . -o change.patch\n'
        'greenloop change "Fix the crash" --issue traceback.txt --branch fix-crash\n'
        'greenloop change "Accept lower-case units" --dry-run'
    )

    wish: str = argument(
        "The change: text, a file, or - for standard input; not needed with --issue.",
        "",
        names="text",
        metavar="WISH",
    )
    root: Path = project_root()
    install: bool = install("--yes")
    issue: Path | None = option(
        "A file with more about the change, such as an issue or a traceback.",
        "FILE",
        "Options",
        names="path",
    )
    tests: list[Path] | None = given_tests(
        "Your own tests of the change, files or folders; no others are written.", "PATH"
    )
    fence: list[str] | None = option(
        "A glob of the only files that may change; may be repeated.", "GLOB", "Evidence"
    )
    may_change: list[str] | None = option(
        "A test that may fail after the change: PATH::NAME; may be repeated.", "TEST", "Evidence"
    )
    no_baseline: bool = flag(
        "Do not run the project's tests; the verdict is then at most passed.", "Evidence"
    )
    output: Path | None = option(
        "Write the patch to this file.", "FILE", "Output", "--output", "-o"
    )
    apply: bool = flag("Change the files of the project; at a terminal greenloop asks first.")
    branch: str | None = option("Commit the change on this new branch.", "NAME")
    run_hooks: bool = flag("With --branch: run the project's git hooks and filters.")
    dry_run: bool = dry_run()
    keep_best: bool = keep_best()
