"""The base of the records that travel between rooms."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, typed value. Unknown keys are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
