"""Paths and settings that are given and cannot be used, found before anything heavy is imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from dotenv.parser import Binding, parse_stream
from typer.models import OptionInfo

from greenloop.errors import InputError
from greenloop.files import is_path_like, path_exists

_MAX_NAMES = 1000
_PREFIX, _ENV_FILE = "GREENLOOP_", Path(".env")
_OTHER_NAMES = ("GREENLOOP_TRACE_CONTENT",)


def check_paths(options: Any) -> None:
    """Raise InputError where a file or folder that an option names does not exist."""
    for item in fields(options):
        value, kind = getattr(options, item.name), item.metadata.get("names", "")
        given = value if isinstance(value, list) else [value]
        for text in (str(path) for path in given if kind and path is not None):
            if (kind == "path" or is_path_like(text)) and not path_exists(Path(text)):
                is_option = isinstance(item.metadata["typer"], OptionInfo)
                label = f"--{item.name.replace('_', '-')} " if is_option else ""
                raise InputError(f"{label}{text} does not exist; {_advise(text, kind)}")


def _advise(text: str, kind: str) -> str:
    path = Path(text)
    near = list(_list_names(path.parent))
    if close := get_close_matches(path.name, near, 1, 0.75):
        return f"did you mean {path.with_name(close[0])}?"
    return "check the path" + (", or give the text in quotes" if kind == "text" else "")


def _list_names(folder: Path) -> Iterator[str]:
    if folder.is_dir():
        yield from (item.name for item in islice(folder.iterdir(), _MAX_NAMES))


def find_ignored_settings() -> Iterator[str]:
    """Yield a line for each unknown name, and one for the lines of `.env` that are no settings."""
    from greenloop.settings import Settings

    entries = list(_read_env_file())
    if broken := [str(item.original.line) for item in entries if item.error]:
        is_one = len(broken) == 1
        lines = f"line {broken[0]} is" if is_one else f"lines {', '.join(broken)} are"
        yield f"{_ENV_FILE}: {lines} not NAME=VALUE and {'is' if is_one else 'are'} ignored"
    variables = {
        f"{_PREFIX}{name}".upper(): str(item.validation_alias or item.alias)
        for name, item in Settings.model_fields.items()
    }
    known = {**variables, **{name: name for name in (*variables.values(), *_OTHER_NAMES)}}
    given = {*os.environ, *(item.key for item in entries if item.key)}
    for name in sorted(item for item in given if item.startswith(_PREFIX) and item not in known):
        close = get_close_matches(name, known, 1)
        yield f"{name} is not a setting" + (f"; did you mean {known[close[0]]}?" if close else "")


def _read_env_file() -> Iterator[Binding]:
    try:
        with _ENV_FILE.open(encoding="utf-8") as file:
            yield from parse_stream(file)
    except (OSError, UnicodeDecodeError):  # reported where it is read
        return
