"""What a run of hidden tests may use, where their data supposes more than greenloop's defaults."""

from __future__ import annotations

from typing import Any

from greenloop.settings import Settings

# EvalPlus gives code 4 GB, and 60 s for all inputs of a task; here the same run has the data's own
# solution answer them first, which takes that long for the slowest task.
_EVALPLUS: dict[str, Any] = {"timeout_s": 120.0, "memory_mb": 4096}


def for_hidden_tests(settings: Settings, format: str) -> Settings:
    """The settings of the sandbox that hidden tests run in; what was asked for stays as it is."""
    if format != "evalplus":
        return settings
    supposed = {k: v for k, v in _EVALPLUS.items() if k not in settings.model_fields_set}
    return settings.model_copy(update=supposed)
