"""What a repair lost that the first version of a script had."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenloop.records.script_run import ScriptRun  # type: ignore[import-not-found]


def dropped(original: str, repaired: str) -> list[str]:
    """One line for the model for each function, class, option or output that is gone; [] if none."""
    raise NotImplementedError


def lost_output(first: ScriptRun, now: ScriptRun) -> list[str]:
    """Lines that the first version printed before it failed, and that `now` did not print."""
    raise NotImplementedError
