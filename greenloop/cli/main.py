"""The command line `greenloop`.

Options are declared in `options/`, commands are implemented in `commands/`. Nothing heavy is
imported here, so that `--help` is fast.
"""

import atexit
import codecs
import os
import sys
import warnings
from errno import EIO, ENOSPC, EPIPE
from io import TextIOWrapper
from typing import Annotated, NoReturn

import typer

from greenloop.cli.usage import Group
from greenloop.versions import greenloop_version

_MAX_HELP_WIDTH = 100  # wider lines are hard to read
_ASCII = {"→": "->", "…": "...", "•": "-", "✓": "+", "✗": "x", "○": "o", "━": "=", "─": "-"}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"greenloop {greenloop_version()}")
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
        context_settings={
            "help_option_names": ["-h", "--help"],
            "max_content_width": _MAX_HELP_WIDTH,
        },
        help="Writes tested Python code from a specification, and shows for any code which faults "
        "its passing tests would miss.",
    )
    program.callback()(greenloop)
    return program


app = create_app()


def main() -> None:
    """Run the program. Ends the process with the exit status of the command."""
    _adapt_streams()
    warnings.simplefilter("ignore", SyntaxWarning)  # of files that are parsed, not run
    try:
        app(prog_name="greenloop")
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except OSError as error:  # raised by the parser: commands report their own errors
        if error.errno not in (EPIPE, ENOSPC, EIO):
            raise
        status = _report_unwritable(error)
    _end_process(status)


def _adapt_streams() -> None:
    """Replace closed streams, and make output streams that are not UTF-8 accept any text.

    Characters that the encoding lacks become ASCII at a terminal, elsewhere backslash escapes.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    codecs.register_error("greenloop", write_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="greenloop" if stream.isatty() else "backslashreplace")


def write_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII for characters that an encoding lacks, as an error handler of `codecs`."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    escaped = (char.encode("ascii", "backslashreplace").decode() for char in lacking)
    return "".join(map(_ASCII.get, lacking, escaped)), error.end


def _report_unwritable(error: OSError) -> int:
    """Say that standard output cannot be written, unless its reader has exited."""
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"greenloop: standard output cannot be written: {error.strerror}\n")
    return 1


def _end_process(status: int) -> NoReturn:
    """End the process without freeing its memory, which takes a tenth of a second."""
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        status = status or _report_unwritable(error)
    os._exit(status)
