"""Base class of all records, and their JSON form.

Untrusted text in the JSON can control neither a terminal nor the log of a CI service.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

from greenloop.characters import COMMAND_MARK, NOT_PRINTABLE_ASCII, is_invisible


def escape_json(text: str) -> str:
    """Return the same JSON value with invisible characters and CI commands in strings escaped."""
    escaped = NOT_PRINTABLE_ASCII.sub(lambda match: _escape_character(match.group()), text)
    return COMMAND_MARK.sub(r"\\u0023#", escaped)


def _escape_character(char: str) -> str:
    if not is_invisible(char):
        return char
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class Record(BaseModel):
    """An immutable, typed value. Unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_dump_json(self, **options: Any) -> str:
        """Return the record as JSON, with invisible characters escaped."""
        return escape_json(super().model_dump_json(**options))
