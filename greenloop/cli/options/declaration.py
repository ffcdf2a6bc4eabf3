"""Commands declared by dataclasses: a field is a parameter, the docstring is the help text.

A parameter of one command is declared by `option`, `flag` or `argument`, one of several commands by
an annotated type of `common`.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, field, fields
from typing import Any, get_type_hints

import typer

from greenloop.cli.usage import Command

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
