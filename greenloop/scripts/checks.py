"""Checks of a script's output: made from options, and made complete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from greenloop.records.output_check import OutputCheck


def parse_expect(text: str) -> OutputCheck:
    """`--expect`: a text that standard output holds, or a `/regular expression/` found in it.

    Raises:
        InputError: nothing is asked for, or the regular expression is not one.
    """
    raise NotImplementedError


def parse_expect_file(text: str) -> tuple[OutputCheck, ...]:
    """`--expect-file`: `PATH[:non-empty|:rows=N|:json|:csv=A,B]`, several parts allowed.

    Raises:
        InputError: no path, a path outside the working folder, or a part that says nothing known.
    """
    raise NotImplementedError


def load_schema(path: Path) -> OutputCheck:
    """`--expect-json-schema`: standard output is JSON, valid under the schema of the file.

    Raises:
        InputError: the file cannot be read, or is no JSON Schema.
    """
    raise NotImplementedError


def complete(checks: Sequence[OutputCheck], *, prints: bool) -> tuple[OutputCheck, ...]:
    """The checks of a run: `exit status 0` first, then `prints something` where `prints` and no
    check asks for silence, then `checks`, each id once (the person's before the model's)."""
    raise NotImplementedError
