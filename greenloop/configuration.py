"""Sources of settings: options, variables, `[tool.greenloop]` of a project, the user's own file.

A project's file comes with the code that is judged. It may set only what neither
weakens a verdict nor opens the sandbox; the rest comes from options, variables or the user's file.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from dotenv.parser import Binding, parse_stream
from platformdirs import user_config_path
from pydantic import Field
from pydantic.fields import FieldInfo

from greenloop.errors import SettingsError
from greenloop.plugins import list_plugins
from greenloop.toml import parse_toml

PROJECT_FILE: Final = "pyproject.toml"
TABLE: Final = "[tool.greenloop]"
# Returns why a project may not set (key, value), '' if it may; the third argument is the value
# that holds without the project's file.
Rule = Callable[[str, Any, Any], str]


@dataclass(frozen=True)
class Setting:
    """Metadata of a field of `Settings`: its meaning, and where it can be set."""

    about: str
    section: str = ""  # heading, given by the first setting below it
    metavar: str = ""  # of the option, '' without one
    key: str = ""  # in configuration files; default: the name of the option
    project: Rule | None = None  # None: no project may set it
    example: str = ""
    is_repeated: bool = False  # the option may occur several times
    is_flag: bool = False  # its option is --no-NAME
    is_saved: bool = False  # a resumed run takes it over; always true with an option
    name: str = ""  # of the field
    variable: str = ""
    default: Any = None
    field: FieldInfo | None = None

    def bind(self, name: str, field: FieldInfo) -> "Setting":
        """Return the setting with name, variable and default of its field."""
        key = self.key or name.removesuffix("_s").replace("_", "-")
        variable = str(field.validation_alias)
        is_saved = self.is_saved or self.has_option
        found = replace(self, name=name, key=key, variable=variable, is_saved=is_saved)
        return replace(found, default=field.default, field=field)

    @property
    def has_option(self) -> bool:
        return bool(self.metavar) or self.is_flag

    @property
    def option(self) -> str:
        """Return the command-line option, whether or not there is one."""
        return f"--{self.name.removesuffix('_s').replace('_', '-')}"

    def join(self, value: Any) -> Any:
        """Return a list as comma-separated text if the setting is such text, else the value."""
        joins = self.is_repeated or self.name == "allowed_packages"
        return ",".join(map(str, value)) if joins and isinstance(value, list) else value


def setting(
    default: Any,
    about: str,
    *,
    variable: str | None = None,
    gt: float | None = None,
    ge: float | None = None,
    le: float | None = None,
    **details: Any,
) -> Any:
    """Declare a field of `Settings`; `details` are those of `Setting`."""
    extra: Any = {"setting": Setting(about, **details)}
    # Both: pydantic-settings 2.15, the last one for CPython 3.10, prefers `alias`.
    names: Any = {"alias": variable, "validation_alias": variable}
    return Field(default, **names, gt=gt, ge=ge, le=le, json_schema_extra=extra)


def allow(key: str, value: Any, base: Any) -> str:
    """Let a project set any value."""
    return ""


def allow_above(key: str, value: Any, base: Any) -> str:
    """Let a project raise a threshold, or a number that makes evidence stronger."""
    is_above = _to_number(value) >= _to_number(base)
    return "" if is_above else f"may not set {key} below {base}; use the environment"


def _to_number(value: Any) -> float:
    """Return the number that a file gives, also as text; NaN, which is above nothing, for others."""
    try:
        return math.inf if value == "all" else float(value)
    except (TypeError, ValueError):
        return math.nan


def allow_list(key: str, value: Any, base: Any) -> str:
    """Let a project set a list."""
    is_list = isinstance(value, list)
    return "" if is_list else f'may set {key} to a list only, as in {key} = ["{value}"]'


def allow_verified(key: str, value: Any, base: Any) -> str:
    """Let a project ask for more than the default."""
    return "" if value == "verified" else f"may set {key} to verified only; use --{key}"


def allow_remote_models(key: str, value: Any, base: Any) -> str:
    """Let a project name models that run no code of its own."""
    names = value.items() if isinstance(value, dict) else [(key, value)]
    local = ("replay", *list_plugins("greenloop.models"))
    for alias, model in names:
        if not isinstance(model, str) or model.partition(":")[0] in local:
            return f"may not set the model alias {alias} to {model!r}; use --model"
    return ""


def find_project_file(folder: Path) -> Path | None:
    """Return the nearest `pyproject.toml`, in a folder or above it."""
    places = (item / PROJECT_FILE for item in (folder.absolute(), *folder.absolute().parents))
    return next((item for item in places if item.is_file()), None)


def read_user_settings(table: Sequence[Setting]) -> dict[str, Any]:
    """Return the settings of the user's file by name; the file may hold any setting.

    Raises SettingsError: the file cannot be read, or has an unknown key.
    """
    path = user_config_path("greenloop") / "config.toml"
    values = _read_toml(path) if path.is_file() else {}
    known = {
        item.variable.removeprefix("GREENLOOP_").lower().replace("_", "-"): item for item in table
    }
    known |= {item.key: item for item in table}
    found = {}
    for key, value in values.items():
        if (item := known.get(key.replace("_", "-"))) is None:
            raise SettingsError(f"{path}: {key} is not a setting{_suggest(key, known)}")
        found[item.name] = item.join(value)
    return found


def read_project_settings(
    table: Sequence[Setting], base: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return the settings of the nearest project file, in a folder or above it, by name.

    `base` has the values of settings without the project's file.
    Raises SettingsError: the file cannot be read, or sets what a project may not set.
    """
    values, known = read_project_table(folder), {item.key: item for item in table}
    allowed = {key: item for key, item in known.items() if item.project}
    for key, value in values.items():
        if (item := known.get(key)) is None or item.project is None:
            hint = "" if item else _suggest(key, allowed)
            why = f"may not set {key}{hint or '; use an option or the environment'}"
        else:
            why = item.project(key, value, base[item.name])
        if why:
            raise SettingsError(f"{find_project_file(folder)}: {TABLE} {why}")
    return {known[key].name: known[key].join(value) for key, value in values.items()}


def find_project_source(table: Sequence[Setting], item: Setting, value: Any) -> str:
    """Return the place where the project's file sets a setting to a value, '' without one."""
    values = read_project_table()
    is_set = item.key in values and item.join(values[item.key]) == value
    return f"{find_project_file(Path())}: {TABLE} {item.key}" if is_set else ""


def find_ignored_settings(table: Sequence[Setting], others: Sequence[str]) -> Iterator[str]:
    """Yield messages on ignored input: broken lines of `.env`, and variables of no setting."""
    entries: list[Binding] = []
    with suppress(OSError, UnicodeDecodeError), Path(".env").open(encoding="utf-8") as file:
        entries = list(parse_stream(file))  # an unreadable file is reported elsewhere
    if broken := [str(item.original.line) for item in entries if item.error]:
        is_one = len(broken) == 1
        lines = f"line {broken[0]} is" if is_one else f"lines {', '.join(broken)} are"
        yield f".env: {lines} not NAME=VALUE and {'is' if is_one else 'are'} ignored"
    known = {f"GREENLOOP_{item.name}".upper(): item.variable for item in table}
    known |= {name: name for name in (*known.values(), *others)}
    given = {*os.environ, *(item.key for item in entries if item.key)}
    for name in sorted(item for item in given if item.startswith("GREENLOOP_")):
        if name not in known.values():
            close = get_close_matches(name, known, 1)
            yield f"{name} is not a setting" + (f"; did you mean {known[close[0]]}?" * bool(close))


def _suggest(key: str, known: Mapping[str, Setting]) -> str:
    close = get_close_matches(key, known, 1, 0.75)
    return f"; did you mean {close[0]}?" if close else ""


def read_project_table(folder: Path = Path()) -> dict[str, Any]:
    """Return greenloop's table in the project's file. Raises SettingsError."""
    path = find_project_file(folder)
    tools = _read_toml(path).get("tool", {}) if path else {}
    table = tools.get("greenloop", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: {TABLE} must be a table, not {table!r}")
    return table


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
