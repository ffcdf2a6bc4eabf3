"""A script's run judged: each check a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from greenloop.records import TestRun
from greenloop.records.output_check import OutputCheck

if TYPE_CHECKING:
    from greenloop.records.script_run import ScriptRun  # type: ignore[import-not-found]


def judge(run: ScriptRun, checks: Sequence[OutputCheck]) -> TestRun:
    """The run in the terms of the loop. `exit status 0` is judged whether it stands in `checks` or not."""
    raise NotImplementedError
