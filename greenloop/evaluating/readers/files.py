"""Text files that tasks name."""

from __future__ import annotations

from pathlib import Path

from greenloop.errors import InputError

_MOST_BYTES = 1_000_000


def text_of(path: Path, where: str) -> str:
    """Raises InputError, which begins with `where`: it cannot be read, is too large, or no text."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{where}: {path} cannot be read: {why}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{where}: {path} is larger than 1 MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: {path} is not UTF-8 text (byte {error.start})") from None
