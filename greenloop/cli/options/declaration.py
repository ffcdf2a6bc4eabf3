"""Commands declared by dataclasses: a field is a parameter, the docstring is the help text.

A parameter of one command is declared by `option`, `flag` or `argument`, one of several commands by
an annotated type of `common`.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, field, fields
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

DEFAULT_COMMAND = "make"
UsageError: Any = typer.BadParameter.__mro__[1]
_PANELS = {
    "Model": "model fallback_model prompts record ask answers accept_choices",
    "Budget": "max_repairs max_tokens max_cost seconds jobs requests_per_minute "
    "tokens_per_minute dry_run",
    "Sandbox": "sandbox timeout allow_package allow_network input stdin engine address",
    "Evidence": "require mutants peer tests spec diff expect expect_file expect_json_schema "
    "no_baseline fence may_change digests_only",
    "Output": "output tests_output output_dir artifacts run_dir json markdown junit html sarif "
    "github_output keep_best approve yes apply branch run_hooks force quiet verbose",
}
# Options that set the field of `Settings` with the same name.
_SETTINGS = (
    "model fallback_model max_repairs timeout max_tokens max_cost sandbox allow_package require "
    "mutants prompts peer ask"
).split()
_OTHER_NAMES = {"timeout": "timeout_s"}


def option(help: str, *flags: str, default: Any = None, names: str = "", **details: Any) -> Any:
    """Declare an option; without `flags` it has that of its field. `names` is as in `argument`."""
    declared = typer.Option(default, *flags, help=help, **details)
    return field(default=default, metadata={"typer": declared, "names": names})


def flag(help: str, *names: str) -> Any:
    """Declare an option without a value, which has no `--no-` form."""
    return option(help, *names, default=False)


def argument(help: str, default: Any = MISSING, names: str = "", **details: Any) -> Any:
    """Declare a positional parameter, which is required if it has no default.

    `names` is "path" where the value is the path of what exists, "text" where it is a text or the
    path of one.
    """
    shown = ... if default is MISSING else default
    declared = typer.Argument(shown, help=help, **details)
    return field(default=default, metadata={"typer": declared, "names": names})


class Command(TyperCommand):
    """A command with its options in panels. Its epilog is a list of examples, a line each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = " ".join(args[:1])
        rest: list[str] = super().parse_args(ctx, args)
        if ctx.args and self.name == DEFAULT_COMMAND and not first.startswith("-"):
            text = " ".join([first, *ctx.args])
            raise UsageError(
                f'the specification must be one argument; put it in quotes: greenloop "{text}"'
            )
        if ctx.args:
            raise UsageError(f"unexpected argument '{ctx.args[0]}'{see_help(ctx)}")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels = {name: names.split() for name, names in _PANELS.items()}
        rows: dict[str, list[tuple[str, str]]] = {}
        for item in self.get_params(ctx):
            if item.param_type_name == "argument":
                rows.setdefault("Arguments", []).append(
                    (str(item.metavar), str(getattr(item, "help", "")))
                )
            elif record := item.get_help_record(ctx):
                found = (title for title, names in panels.items() if item.name in names)
                row = (record[0].lstrip(" /"), record[1])
                rows.setdefault(next(found, "Options"), []).append(row)
        for title in ("Arguments", *panels, "Options"):
            if title in rows:
                with formatter.section(title):
                    formatter.write_dl(rows[title])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in (self.epilog or "").splitlines()))


def build_command(name: str, options_class: type) -> Any:
    """Return a command that calls `greenloop.cli.commands.NAME:NAME_command` with its options.

    The command's module is imported when the command runs.
    """

    def run(context: typer.Context, **values: Any) -> None:
        from greenloop.cli.process import run_command

        started = () if context.obj is None else (context.obj,)
        raise typer.Exit(run_command(name, options_class(**values), *started))

    hints = get_type_hints(options_class, include_extras=True)
    parameters = [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[item.name],
            default=item.metadata.get("typer", item.default),
        )
        for item in sorted(fields(options_class), key=lambda item: item.default is not MISSING)
    ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    vars(run)["__signature__"] = inspect.Signature([context, *parameters])
    run.__annotations__ = {"context": typer.Context, **hints}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        name,
        cls=Command,
        help=options_class.__doc__,
        epilog=vars(options_class).get("examples"),
        context_settings={"allow_extra_args": True},
    )(run)
    return typer.main.get_command(app)


def collect_settings(options: object) -> dict[str, Any]:
    """Return the values of the options that are settings, by the name of the setting.

    Repeated values are joined by commas; None means that the option was not given.
    """
    found: dict[str, Any] = {}
    for name in _SETTINGS:
        if hasattr(options, name):
            value = getattr(options, name)
            joined = ",".join(value) or None if isinstance(value, list) else value
            found[_OTHER_NAMES.get(name, name)] = joined
    return found


def see_help(ctx: Any) -> str:
    """Return where the options of a command are listed, as the end of a message."""
    return f"; see {ctx.command_path} --help" if ctx else ""
