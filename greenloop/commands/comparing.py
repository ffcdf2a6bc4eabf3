"""`eval --compare`: two evaluations side by side."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.commands.reports import write_form
from greenloop.evaluating.comparing import compared, read_evaluation
from greenloop.reporting.eval_markdown import comparison_markdown
from greenloop.reporting.eval_text import comparison_text


def compare_command(a: Path, b: Path, *, as_json: bool, markdown: str | None) -> int:
    """The exit status. Raises InputError where they cannot be compared."""
    found = compared(read_evaluation(a), read_evaluation(b))
    text = found.model_dump_json(indent=1) + "\n" if as_json else comparison_text(found)
    sys.stdout.write(text)
    sys.stdout.flush()
    if markdown is not None:
        write_form(markdown, comparison_markdown(found))
    return 0
