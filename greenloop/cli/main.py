"""The command line: what is typed, and which command it means. The work is in `commands/`.

Nothing heavy is imported here, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from greenloop.cli.options.batch import batch, verify
from greenloop.cli.options.common import (
    AllowPackage,
    Approve,
    Fallback,
    Json,
    KeepBest,
    MaxCost,
    MaxRepairs,
    MaxTokens,
    Model,
    Mutants,
    Output,
    Quiet,
    Record,
    Require,
    RunDir,
    Sandbox,
    Tests,
    TestsOutput,
    Timeout,
    Verbose,
    flags_from_parameters,
    join_packages,
)
from greenloop.cli.options.eval import eval_
from greenloop.cli.options.heal_and_script import heal, script
from greenloop.cli.options.mcp import mcp
from greenloop.cli.options.report import ReportCommand, report

_DEFAULT_COMMAND = "make"
_ROOT_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")


class _DefaultGroup(TyperGroup):
    """A group whose first word, where it is no command, is a specification for `make`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in _ROOT_OPTIONS:
            args = [_DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_DefaultGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A specification goes in; code, tests and the proof of what their green is worth come out.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"greenloop {version('greenloop')}")
        raise typer.Exit()


@app.callback()
def greenloop(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def make(
    spec: Annotated[str, typer.Argument(help="Text, a file, or - for standard input.")],
    model: Model = None,
    fallback_model: Fallback = None,
    output: Output = None,
    tests_output: TestsOutput = None,
    tests: Tests = None,
    json: Json = False,
    run_dir: RunDir = None,
    record: Record = None,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    require: Require = None,
    mutants: Mutants = None,
    keep_best: KeepBest = False,
    approve: Approve = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Specification → reviewed, tested, graded code. The default command."""
    typed = dict(locals())
    from greenloop.cli.commands.make import MakeOptions, make_command

    flags = flags_from_parameters(typed)
    options = MakeOptions(
        output=output,
        tests_output=tests_output,
        tests=tuple(tests or ()),
        run_dir=run_dir,
        record=record,
        keep_best=keep_best,
        approve=approve,
        json=json,
        quiet=quiet,
        verbose=verbose,
    )
    raise typer.Exit(make_command(spec, options, flags))


@app.command()
def check(
    code: Annotated[Path, typer.Argument(help="The module's file; its stem is the module's name.")],
    tests: Annotated[list[Path], typer.Argument(help="Pytest files, or a folder with some.")],
    json: Json = False,
    run_dir: RunDir = None,
    timeout: Timeout = None,
    sandbox: Sandbox = None,
    require: Require = None,
    mutants: Mutants = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run and grade existing code against existing tests; no model is asked."""
    from greenloop.cli.commands.check import CheckOptions, check_command

    options = CheckOptions(run_dir=run_dir, json=json, quiet=quiet, verbose=verbose)
    flags = {"timeout_s": timeout, "sandbox": sandbox, "require": require, "mutants": mutants}
    raise typer.Exit(check_command(code, tests, options, flags))


app.command()(heal)
app.command()(script)
app.command()(batch)
app.command("eval")(eval_)
app.command()(verify)
app.command()(mcp)


@app.command()
def resume(
    run_dir: Annotated[Path, typer.Argument(help="The directory of an interrupted run.")],
    model: Model = None,
    fallback_model: Fallback = None,
    json: Json = False,
    max_repairs: MaxRepairs = None,
    timeout: Timeout = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
    require: Require = None,
    mutants: Mutants = None,
    keep_best: KeepBest = False,
    approve: Approve = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Go on with an interrupted run; answers that it has are not paid for again."""
    typed = dict(locals())
    from greenloop.cli.commands.make import MakeOptions, resume_command

    flags = flags_from_parameters(typed)
    options = MakeOptions(
        keep_best=keep_best, approve=approve, json=json, quiet=quiet, verbose=verbose
    )
    raise typer.Exit(resume_command(run_dir, options, flags))


app.command(cls=ReportCommand)(report)


@app.command()
def doctor(
    json: Json = False,
    model: Model = None,
    sandbox: Sandbox = None,
    allow_package: AllowPackage = None,
) -> None:
    """What this machine offers: model, sandbox, versions; and how to mend what is missing."""
    from greenloop.cli.commands.doctor import doctor_command

    flags = {"model": model, "sandbox": sandbox, "allow_package": join_packages(allow_package)}
    raise typer.Exit(doctor_command(flags, as_json=json))


def main() -> None:
    """The program. Ends the process with the exit status of the command."""
    try:
        app(prog_name="greenloop")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        sys.exit(1)


if __name__ == "__main__":
    main()
