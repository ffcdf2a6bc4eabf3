"""The base class of all records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable, typed value. Unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")
