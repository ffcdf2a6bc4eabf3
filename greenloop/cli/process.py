"""Signals, messages and exit statuses of the commands."""

import asyncio
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from pathlib import Path
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Any, Protocol, TextIO, TypeVar

from typer.models import OptionInfo

from greenloop.errors import GreenloopError, InputError, InterruptedRunError, NoModelError
from greenloop.files import is_bare_word, is_path_like, path_exists
from greenloop.reporting.escaping import escape_invisible
from greenloop.versions import SMALL, format_install_command, is_small

_MAX_NAMES = 1000
_OUTPUTS = ("markdown", "html", "junit", "sarif", "record", "github_output")  # options
_COMMAND = re.compile(r"(?<=:) (?=greenloop [a-z])")
_COLUMN = re.compile(r"\s*(?:.*\S {2,}(?=\S))?")


def check_paths(name: str, options: Any) -> None:
    """Raise InputError if a file or folder that an option names does not exist."""
    for item in fields(options):
        value, kind = getattr(options, item.name), item.metadata.get("names", "")
        given = value if isinstance(value, list) else [value]
        for text in (str(path) for path in given if kind and path is not None):
            is_path = kind == "path" or is_path_like(text) or is_bare_word(text)
            if is_path and not path_exists(Path(text)):
                is_option = isinstance(item.metadata["typer"], OptionInfo)
                flag = "in" if item.name == "root" else item.name.replace("_", "-")
                label = f"--{flag} " if is_option else ""
                if not label and kind == "text" and not is_path_like(text):
                    known, where = ("a command, ", "") if name == "make" else ("", f" {name}")
                    other = "a folder" if name == "batch" else "a sentence"
                    raise InputError(
                        f"'{text}' is not {known}a file or {other}; see greenloop help{where}"
                    )
                raise InputError(f"{label}{text} does not exist; {_advise(text, kind)}")


def check_outputs(options: Any) -> None:
    """Raise InputError if an output file is a folder, or two outputs go to standard output."""
    paths = {name: getattr(options, name, None) for name in _OUTPUTS}
    files = {name: str(path) for name, path in paths.items() if path is not None}
    for name, text in files.items():
        if text and os.path.isdir(text):  # False if the name is too long
            raise InputError(f"--{name.replace('_', '-')} {text} is a folder; name a file")
    shown = [f"--{name}" for name in ("json", "code") if getattr(options, name, None) is True]
    shown += [f"--{name} -" for name, text in files.items() if text == "-"]
    shown += ["--markdown"] * (files.get("markdown") == "")
    if len(shown) > 1:
        raise InputError(
            f"{shown[0]} and {shown[1]} both write on standard output; name a file for one of them"
        )


def _advise(text: str, kind: str) -> str:
    path = Path(text)
    beside = islice(path.parent.iterdir(), _MAX_NAMES) if path.parent.is_dir() else ()
    names = [item.name for item in beside if item.name != path.name]  # not a dangling link
    if close := get_close_matches(path.name, names, 1, 0.75):
        return f"did you mean {path.with_name(close[0])}?"
    return "check the path" + (", or give the text in quotes" if kind == "text" else "")


T = TypeVar("T")


def run_command(name: str, options: object) -> int:
    """Import and run a command; return its exit status.

    Paths that do not exist are reported before the import, which is slow.
    """
    as_json = getattr(options, "json", False) or getattr(options, "output_format", "") == "json"
    try:
        check_paths(name, options)
        check_outputs(options)
        command = getattr(import_module(f"greenloop.cli.commands.{name}"), f"{name}_command")
        return int(command(options))
    except GreenloopError as error:
        return end_command(name, error, as_json=as_json)
    except (asyncio.CancelledError, KeyboardInterrupt):
        return end_command(name, InterruptedRunError("interrupted"), as_json=as_json)
    except ModuleNotFoundError as error:
        if not is_small():
            raise
        why = f"{SMALL} has no {error.name}, which this needs: {format_install_command()}"
        return end_command(name, NoModelError(why), as_json=as_json)


def end_command(name: str, error: GreenloopError, *, as_json: bool) -> int:
    """Print the error that ended a command; for JSON also a report. Return the exit status."""
    print_error(str(error))
    if as_json:
        from greenloop.cli.finish import print_refusal  # loads the records

        print_refusal(name, error)
    return error.exit_status


def is_terminal() -> bool:
    """Return whether standard input and standard error are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def check_terminal(option: str) -> None:
    """Raise InputError if there is no terminal for the questions of an option."""
    if not is_terminal():
        raise InputError(
            f"{option} needs a terminal; leave it out, or run the command in a terminal"
        )


def run_with_signals(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. The first SIGINT or SIGTERM cancels it, a second one ends the process."""
    stopped: list[int] = []

    def stop(task: asyncio.Future[T]) -> None:
        if stopped:
            os._exit(130)
        stopped.append(1)
        task.cancel()

    return _run_guarded(coroutine, stop)


class Stoppable(Protocol):
    """A runner of many runs. After `stop`, active runs end and no new ones start."""

    is_stopping: bool

    def stop(self) -> None: ...


def run_until_stopped(
    runner: Stoppable, coroutine: Coroutine[Any, Any, Any]
) -> GreenloopError | None:
    """Run a coroutine; return the error that ended it.

    The first signal lets active runs finish, the second cancels them.
    """

    def stop(task: asyncio.Future[Any]) -> None:
        if runner.is_stopping:
            task.cancel()
            return
        runner.stop()
        print_error("finishing the active runs; interrupt again to stop them at once")

    try:
        _run_guarded(coroutine, stop)
    except asyncio.CancelledError:
        runner.stop()
    except GreenloopError as error:
        return error
    return None


def _run_guarded(
    coroutine: Coroutine[Any, Any, T], on_signal: Callable[[asyncio.Future[T]], None]
) -> T:
    """Run a coroutine; `on_signal` is called with its task at SIGINT or SIGTERM."""

    async def run() -> T:
        task = asyncio.ensure_future(coroutine)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, on_signal, task)
        return await task

    return asyncio.run(run())


def print_error(message: str) -> None:
    """Print an error message on standard error."""
    text = fit_terminal(f"greenloop: {escape_invisible(message)}", sys.stderr)
    print(text, file=sys.stderr, flush=True)


def fit_terminal(text: str, stream: TextIO) -> str:
    """Return a text whose lines are wrapped between words at the width of the terminal, if any.

    Further lines are indented to the text that follows two blanks. A command is not wrapped.
    """
    if not stream.isatty():
        return text
    width = get_terminal_size().columns
    return "\n".join(part for line in text.split("\n") for part in _wrap(line, width))


def _wrap(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    said, *commands = _COMMAND.split(line, maxsplit=1)
    indent = " " * min(len(_COLUMN.findall(said)[0]), width // 2)
    wrapper = TextWrapper(
        width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    yield from wrapper.wrap(said)
    yield from (f"{indent}  {command}" for command in commands)


def escape_displayed(text: str) -> str:
    """Return code or script output, escaped for a terminal or the log of a GitHub Actions job."""
    try:
        is_file = stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except OSError:
        return text
    in_job = os.environ.get("GITHUB_ACTIONS") == "true"
    is_displayed = sys.stdout.isatty() or (in_job and not is_file)
    return escape_invisible(text) if is_displayed else text


def write_stdout(text: str) -> None:
    """Write on standard output. Raises OSError, which `main` reports."""
    sys.stdout.write(text)
    sys.stdout.flush()


def end_early(error: GreenloopError | None, is_stopped: bool) -> int:
    """Print why a batch or evaluation ended early; return the exit status, 0 if it did not."""
    if is_stopped:
        error = error or InterruptedRunError("stopped")
    if error is None:
        return 0
    print_error(f"{error}; the same command continues where this one ended")
    return error.exit_status
