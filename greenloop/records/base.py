"""The base class of all records."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from greenloop.records.invisible import escape_json


class Record(BaseModel):
    """An immutable, typed value. Unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_dump_json(self, **options: Any) -> str:
        """Return the record as JSON, with invisible characters escaped."""
        return escape_json(super().model_dump_json(**options))
