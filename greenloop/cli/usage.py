"""Command-line help with options in panels, and usage errors in one line."""

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from greenloop.cli.options.commands import COMMANDS, summarize
from greenloop.cli.options.declaration import build_command
from greenloop.errors import simplify_message

_DEFAULT_COMMAND = "make"
_ROOT_OPTIONS = ("--help", "-h", "--version", "--install-completion", "--show-completion")
_WORDS = ("help", "version")
_OPTIONAL_VALUE_FLAGS = ("--html", "--markdown")
UsageError: Any = BadParameter.__mro__[1]
_MODEL_PANELS = ("Model", "Budget")
_PANELS = ("Arguments", *_MODEL_PANELS, "Sandbox", "Evidence", "Output", "Options")


def expand_bare_options(args: list[str]) -> list[str]:
    """Return the arguments of `report`, with `=` after `--html` and `--markdown` without a value.

    They have no value at the end, before an option, or before a run: a folder or its report.
    """
    read: list[str] = []
    for number, word in enumerate(args):
        following = args[number + 1] if number + 1 < len(args) else "--"
        place = Path(following)
        is_run = place.is_dir() or (place.suffix == ".json" and place.is_file())
        bare = (following.startswith("-") and following != "-") or is_run
        read.append(f"{word}=" if word in _OPTIONAL_VALUE_FLAGS and bare else word)
    return read


class Command(TyperCommand):
    """A command with its options in panels. Its epilog has an example in each line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = " ".join(args[:1])
        rest: list[str] = super().parse_args(ctx, args)
        if ctx.args and self.name == _DEFAULT_COMMAND and not first.startswith("-"):
            text = " ".join([first, *ctx.args])
            raise UsageError(
                f'the specification must be one argument; put it in quotes: greenloop "{text}"'
            )
        if ctx.args:
            raise UsageError(f"unexpected argument '{ctx.args[0]}'{_see_help(ctx)}")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        rows: dict[str, list[tuple[str, str]]] = {name: [] for name in _PANELS}
        for item in self.get_params(ctx):
            if item.param_type_name == "argument":
                rows["Arguments"].append((str(item.metavar), str(getattr(item, "help", ""))))
            elif record := item.get_help_record(ctx):
                panel = getattr(item, "rich_help_panel", None) or "Options"
                rows[panel].append((record[0].lstrip(" /"), record[1]))
        late = () if COMMANDS[str(self.name)].asks_model else _MODEL_PANELS
        for title in filter(rows.get, [*(item for item in rows if item not in late), *late]):
            with formatter.section(title):
                formatter.write_dl(rows[title])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in (self.epilog or "").splitlines()))


class Group(TyperGroup):
    """The command group. A first word that is no command is a specification for `make`.

    A command is built only if it is named: to build all takes a third of the time of `--help`.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        known = cmd_name in COMMANDS
        return build_command(cmd_name, COMMANDS[cmd_name], Command) if known else None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = _expand_words(args)
        if args and args[0] not in COMMANDS and args[0] not in _ROOT_OPTIONS:
            if not Path(args[0]).exists():
                _check_spelling(args[0])
            args = [_DEFAULT_COMMAND, *args]
        elif args and args[0] == "report":
            args = expand_bare_options(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # while a command is built; a command that runs reports its own
            sys.stderr.write("greenloop: interrupted\n")
            raise

    def main(self, *args: Any, **details: Any) -> Any:
        try:
            status = super().main(*args, **{**details, "standalone_mode": False})
        except UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                from greenloop.cli.process import end_command
                from greenloop.errors import InputError

                words = (args[0] if args else details.get("args")) or sys.argv[1:]
                written = " ".join(words).replace("--output-format=", "--output-format ")
                as_json = "--json" in words or "--output-format json" in written
                end_command(words[0], InputError(_describe_error(error)), as_json=as_json)
            sys.exit(2)
        sys.exit(status or 0)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            rows = [(name, summarize(item)) for name, item in COMMANDS.items()]
            rows += [("help", "Show the help of a command."), ("version", "Show the version.")]
            formatter.write_dl(rows)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, '"Write a function that …" [OPTIONS]')
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix=" " * len("Usage: "))


def _expand_words(args: list[str]) -> list[str]:
    """Return `greenloop help [COMMAND]`, `version` and `-V` as options."""
    if args[:1] == ["help"]:
        names = [word for word in args[1:] if not word.startswith("-")][:1]
        if names and names[0] in _WORDS:
            return ["--help"]
        if names and names[0] not in COMMANDS:
            _check_spelling(names[0])
            raise UsageError(f"no such command: {names[0]}; see greenloop help")
        return [*names, "--help"]
    return ["--version"] if args[:1] in (["version"], ["-V"]) else args


def _check_spelling(word: str) -> None:
    """Raise UsageError if a word resembles a command or an option of the program."""
    if close := get_close_matches(word, (*COMMANDS, *_WORDS, *_ROOT_OPTIONS), 1, 0.75):
        kind = "an option" if word.startswith("-") else "a command"
        raise UsageError(f"'{word}' is not {kind}; did you mean '{close[0]}'?")


def _describe_error(error: Any) -> str:
    """Return the problem with the name of its parameter, and the command that shows the help."""
    kind, ctx, parameter = type(error).__name__, error.ctx, getattr(error, "param", None)
    if kind == "NoSuchOption":
        close = f"; did you mean {error.possibilities[0]}?" if error.possibilities else ""
        return f"no such option: {error.option_name}{close or _see_help(ctx)}"
    if kind == "BadOptionUsage":
        return f"{error.option_name} needs a value"
    if parameter is None:
        return str(error.message)
    is_option = parameter.param_type_name == "option"
    label = max(parameter.opts, key=len) if is_option else parameter.metavar
    problem = "is missing" if kind == "MissingParameter" else simplify_message(error.message)
    return f"{label} {problem}{_see_help(ctx)}"


def _see_help(ctx: Any) -> str:
    return f"; see {ctx.command_path} --help" if ctx else ""
