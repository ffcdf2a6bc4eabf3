"""Checks of the paths that a command is given, before anything heavy is imported."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from typer.models import OptionInfo

from greenloop.errors import InputError
from greenloop.files import is_path_like, path_exists

_MAX_NAMES = 1000


def check_paths(options: Any) -> None:
    """Raise InputError where a file or folder that an option names does not exist."""
    for item in fields(options):
        value, kind = getattr(options, item.name), item.metadata.get("names", "")
        given = value if isinstance(value, list) else [value]
        for text in (str(path) for path in given if kind and path is not None):
            if (kind == "path" or is_path_like(text)) and not path_exists(Path(text)):
                is_option = isinstance(item.metadata["typer"], OptionInfo)
                name = "in" if item.name == "root" else item.name.replace("_", "-")
                label = f"--{name} " if is_option else ""
                raise InputError(f"{label}{text} does not exist; {_advise(text, kind)}")


def _advise(text: str, kind: str) -> str:
    path = Path(text)
    beside = islice(path.parent.iterdir(), _MAX_NAMES) if path.parent.is_dir() else ()
    if close := get_close_matches(path.name, [item.name for item in beside], 1, 0.75):
        return f"did you mean {path.with_name(close[0])}?"
    return "check the path" + (", or give the text in quotes" if kind == "text" else "")
