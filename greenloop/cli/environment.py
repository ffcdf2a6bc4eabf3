"""Settings in the environment and in `.env` that are ignored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from greenloop.settings import Settings

_PREFIX, _ENV_FILE = "GREENLOOP_", Path(".env")
_OTHER_NAMES = ("GREENLOOP_TRACE_CONTENT",)


def find_ignored_settings() -> Iterator[str]:
    """Yield a line for each unknown name, and one for the lines of `.env` that are no settings."""
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
