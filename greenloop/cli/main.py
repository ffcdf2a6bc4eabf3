"""The command line `greenloop`.

Options are declared in `options/`, commands are implemented in `commands/`. Nothing heavy is
imported here, so that `--help` is fast.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from greenloop.cli.options.commands import COMMANDS
from greenloop.cli.options.declaration import add_command
from greenloop.cli.usage import Group


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"greenloop {version('greenloop')}")
        raise typer.Exit()


def greenloop(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def create_app() -> typer.Typer:
    """Return the program with all its commands."""
    program = typer.Typer(
        cls=Group,
        rich_markup_mode=None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="A specification goes in; code, tests and the evidence for them come out.",
    )
    program.callback()(greenloop)
    for name, options in COMMANDS.items():
        add_command(program, name, options)
    return program


app = create_app()


def main() -> None:
    """Run the program. Ends the process with the exit status of the command."""
    try:
        app(prog_name="greenloop")
    except BrokenPipeError:
        sys.stderr.close()  # the reader of standard output has exited; report nothing
        sys.exit(1)


if __name__ == "__main__":
    main()
