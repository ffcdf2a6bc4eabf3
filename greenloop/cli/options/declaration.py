"""Declaration of commands as dataclasses: fields are parameters, docstrings are help texts.

Parameters that are no settings are declared by `option`, `flag` or `argument`. The options of
settings come from the table in `greenloop.settings`; `settings` lists their names.
"""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

if TYPE_CHECKING:
    from greenloop.configuration import Setting

Names = tuple[str, ...]  # of settings


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command; `given` maps settings that were given as options to their values.

    If `asks_model` is false, the options of a model come last in the help.
    """

    settings: ClassVar[Names] = ()
    examples: ClassVar[str] = ""
    asks_model: ClassVar[bool] = True
    given: Mapping[str, Any] = field(default_factory=dict)


def option(
    help: str,
    metavar: str = "",
    panel: str = "Output",
    *flags: str,
    default: Any = None,
    names: str = "",
    **more: Any,
) -> Any:
    """Declare an option, whose default flag is its field's name. For `names` see `argument`."""
    more |= {"metavar": metavar or None, "rich_help_panel": panel}
    declared = typer.Option(default, *flags, help=help, **more)
    return field(default=default, metadata={"typer": declared, "names": names})


def flag(help: str, panel: str = "Output", *flags: str) -> Any:
    """Declare an option without a value, which has no `--no-` form."""
    return option(help, "", panel, *flags, default=False)


def argument(help: str, default: Any = MISSING, names: str = "", **details: Any) -> Any:
    """Declare a positional parameter, which is required if it has no default.

    `names` is "path" if the value is the path of an existing file or folder, "text" if it is a text
    or the path of a file with the text.
    """
    shown = ... if default is MISSING else default
    declared = typer.Argument(shown, help=help, **details)
    return field(default=default, metadata={"typer": declared, "names": names})


def build_command(name: str, options_class: type[Options], command_class: Any) -> Any:
    """Return a command that calls `greenloop.cli.commands.NAME:NAME_command` with its options.

    The command's module is imported when the command runs.
    """

    def run(**values: Any) -> None:
        from greenloop.cli.process import run_command

        settings = {item: values.pop(item) for item in options_class.settings}
        given = {
            item: ",".join(value) if isinstance(value, list) else value
            for item, value in settings.items()
            if value not in (None, [])
        }
        raise typer.Exit(run_command(name, options_class(given=given, **values)))

    parameters = [*_list_settings(options_class.settings), *_list_parameters(options_class)]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        name,
        cls=command_class,
        help=options_class.__doc__,
        epilog=options_class.examples,
        context_settings={"allow_extra_args": True},
    )(run)
    return typer.main.get_command(app)


def _list_parameters(options_class: type[Options]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(options_class, include_extras=True)
    own = [item for item in fields(options_class) if "typer" in item.metadata]
    for item in sorted(own, key=lambda item: item.default is not MISSING):
        declared = item.metadata["typer"]
        if item.default is False and not declared.param_decls:  # else there is a `--no-` form too
            declared.param_decls = (f"--{item.name.replace('_', '-')}",)
        yield _parameter(item.name, hints[item.name], item.metadata["typer"])


def _list_settings(names: Names) -> Iterator[inspect.Parameter]:
    if names:
        from greenloop.settings import list_settings

        section = ""
        for item in list_settings():
            section = item.section or section
            if item.name in names:
                yield _build_option(item, section)


def _build_option(item: "Setting", section: str) -> inspect.Parameter:
    """Return the option of a setting; its value is checked with the other settings."""
    default = f" Default: {item.default}." if item.default and not item.is_flag else ""
    details: dict[str, Any] = {"help": f"{item.about}{default}", "rich_help_panel": section}
    if item.is_flag:
        details["help"] = f"Do not {item.about[0].lower()}{item.about[1:]}"
        declared = typer.Option(f" /--no-{item.option[2:]}", **details)
        return _parameter(item.name, Annotated[bool | None, declared], None)
    kind = list[str] if item.is_repeated else str
    declared = typer.Option(item.option, metavar=item.metavar, **details)
    return _parameter(item.name, Annotated[kind | None, declared], None)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)
