"""Configuration files: `[tool.greenloop]` of a project, and the user's own file.

A project's file comes with the code that is judged. It may set what cannot weaken a verdict or
reach out of the sandbox; all else comes from options, the environment, or the user's file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from dotenv.parser import Binding, parse_stream
from platformdirs import user_config_path

from greenloop.errors import SettingsError
from greenloop.plugins import list_plugins

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

PROJECT_FILE: Final = "pyproject.toml"
TABLE: Final = "[tool.greenloop]"
_THRESHOLDS = {
    f"min-{name}": f"min_{name.replace('-', '_')}"
    for name in (
        *("held-out-agreement", "mutation-score", "assertion-mutation", "isolated"),
        *("line-coverage", "branch-coverage"),
    )
}
_KEYS = {
    "timeout": "timeout_s",
    "model-timeout": "model_timeout_s",
    "grading-seconds": "grading_s",
    "mutants": "mutants",
    "fence": "fence",
    "allow-packages": "allow_package",
    "models": "models",
    "require": "require",
    **_THRESHOLDS,
}


def find_project_file(folder: Path) -> Path | None:
    """Return the nearest `pyproject.toml`, in a folder or above it."""
    places = (item / PROJECT_FILE for item in (folder.absolute(), *folder.absolute().parents))
    return next((item for item in places if item.is_file()), None)


def read_user_settings() -> dict[str, Any]:
    """Return the settings of the user's file, which may hold all of them, by their names.

    Raises:
        SettingsError: it cannot be read.
    """
    path = user_config_path("greenloop") / "config.toml"
    values = _read_toml(path) if path.is_file() else {}
    return {_KEYS.get(key, key.replace("-", "_")): _join(key, item) for key, item in values.items()}


def read_project_settings(find_base: Callable[[str], Any]) -> dict[str, Any]:
    """Return the settings of the project's file, by their names.

    `find_base` returns the value that a setting would have without the project.

    Raises:
        SettingsError: the file cannot be read, or sets what a project may not set.
    """
    path, values = _read_project_table()
    for key, value in values.items():
        if why := _explain_refusal(key, value, find_base):
            raise SettingsError(f"{path}: {TABLE} {why}")
    return {_KEYS[key]: _join(key, value) for key, value in values.items()}


def find_project_source(name: str, value: Any) -> str:
    """Return where the project's file sets a setting to a value; '' where it does not."""
    path, values = _read_project_table()
    found = (
        key for key, item in values.items() if _KEYS[key] == name and _join(key, item) == value
    )
    return next((f"{path}: {TABLE} {key}" for key in found), "")


def find_ignored_settings(known: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for what is ignored: lines of `.env`, and variables that are no setting.

    `known` has the names that are settings, each with the name to suggest.
    """
    entries: list[Binding] = []
    with suppress(OSError, UnicodeDecodeError), Path(".env").open(encoding="utf-8") as file:
        entries = list(parse_stream(file))  # an unreadable file is reported elsewhere
    if broken := [str(item.original.line) for item in entries if item.error]:
        is_one = len(broken) == 1
        lines = f"line {broken[0]} is" if is_one else f"lines {', '.join(broken)} are"
        yield f".env: {lines} not NAME=VALUE and {'is' if is_one else 'are'} ignored"
    given = {*os.environ, *(item.key for item in entries if item.key)}
    for name in sorted(item for item in given if item.startswith("GREENLOOP_")):
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {known[close[0]]}?" if close else ""
            yield f"{name} is not a setting{hint}"


def _explain_refusal(key: str, value: Any, find_base: Callable[[str], Any]) -> str:
    """Return why a project may not set a key to a value; '' where it may."""
    if key not in _KEYS:
        close = get_close_matches(key, _KEYS, 1, 0.75)
        hint = f"did you mean {close[0]}?" if close else "use an option or the environment"
        return f"may not set {key}; {hint}"
    if key == "fence" and not isinstance(value, list):
        return f'may set fence to a list only, as in fence = ["{value}"]'
    if key == "require" and value != "verified":
        return "may set require to verified only; use --require"
    base = find_base(_KEYS[key]) if key in _THRESHOLDS else 0
    if key in _THRESHOLDS and not (isinstance(value, (int, float)) and value >= base):
        return f"may not set {key} below {base}; use the environment"
    if key == "models":
        names = value.items() if isinstance(value, dict) else [(key, value)]
        local = ("replay", *list_plugins("greenloop.models"))
        for alias, model in names:
            if not isinstance(model, str) or model.partition(":")[0] in local:
                return f"may not set the model alias {alias} to {model!r}; use --model"
    return ""


def _join(key: str, value: Any) -> Any:
    """Return a list of packages as the option has them."""
    is_list = isinstance(value, list) and "package" in key
    return ",".join(map(str, value)) if is_list else value


def _read_project_table() -> tuple[Path | None, dict[str, Any]]:
    """Return the project's file and greenloop's table in it. Raises SettingsError."""
    path = find_project_file(Path())
    tools = _read_toml(path).get("tool", {}) if path else {}
    table = tools.get("greenloop", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: {TABLE} must be a table, not {table!r}")
    return path, table


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    return values
