"""What a run reached goes to where the person wants it."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.commands.approval import agreed, ask
from greenloop.commands.running import complain
from greenloop.records import Report
from greenloop.way.handing_over import hand_over_healed, hand_over_script
from greenloop.way.leaving import Approve, deliver
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory


def delivered(report: Report, request: RunRequest, approve: Approve) -> Report:
    """The report, with the places of what was written. Raises OutputError."""
    if not report.artifacts.run_dir:
        return report
    directory = RunDirectory(Path(report.artifacts.run_dir))
    if request.kind == "script":
        report = hand_over_script(report, request, approve)
    elif request.kind == "heal":
        sure = approve if request.write or request.output or approve is agreed else _if_asked
        report = hand_over_healed(report, request, sure, directory)
    else:
        report = deliver(report, request, approve)
    directory.save_report(report)
    return report


def _if_asked(path: Path, text: str) -> bool:
    """Somebody's file is written over only if he says so: `--yes`, or at a terminal."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return ask(path, text)
    complain(f"healed, but {path} was not written: --yes writes it without a question")
    return False
