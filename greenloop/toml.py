"""TOML and INI files of users and their projects."""

import configparser
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a file. Raises ValueError: it is not TOML."""
    values: dict[str, Any] = tomllib.loads(text)
    return values


def read_table(text: str, *names: str) -> dict[str, Any]:
    """Return the table of TOML text at a path of names; {} without one or for invalid TOML."""
    try:
        values = parse_toml(text)
    except (ValueError, RecursionError):
        return {}
    return find_table(values, *names)


def find_table(values: Any, *names: str) -> dict[str, Any]:
    """Return the nested table at a path of names; {} if it is missing or no table."""
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    return values if isinstance(values, dict) else {}


def read_ini(text: str) -> dict[str, dict[str, str]]:
    """Return the sections of an INI file; {} if it is invalid."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}
