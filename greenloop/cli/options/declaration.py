"""Commands declared by dataclasses: a field is a parameter, the docstring is the help text."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Any, get_type_hints

import typer


@dataclass(frozen=True)
class Setting:
    """Mark of an option that sets a field of `Settings`; `name` is that field."""

    name: str


def add_command(app: typer.Typer, name: str, options_class: type, **arguments: Any) -> None:
    """Add a command that calls `greenloop.cli.commands.NAME:NAME_command` with its options.

    The command's module is imported when the command runs.
    """

    def run(**values: Any) -> None:
        module = import_module(f"greenloop.cli.commands.{name}")
        status = getattr(module, f"{name}_command")(options_class(**values))
        raise typer.Exit(status)

    hints = get_type_hints(options_class, include_extras=True)
    parameters = [
        inspect.Parameter(
            item.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[item.name],
            default=inspect.Parameter.empty if item.default is MISSING else item.default,
        )
        for item in fields(options_class)
    ]
    required_first = sorted(parameters, key=lambda item: item.default is not item.empty)
    vars(run)["__signature__"] = inspect.Signature(required_first)
    run.__annotations__ = hints
    app.command(name, help=options_class.__doc__, **arguments)(run)


def collect_settings(options: object) -> dict[str, Any]:
    """Return the values of the options that are settings, by the name of the setting.

    Repeated values are joined by commas; None means that the option was not given.
    """
    hints = get_type_hints(type(options), include_extras=True)
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Setting):
                value = getattr(options, name)
                found[mark.name] = ",".join(value) or None if isinstance(value, list) else value
    return found
