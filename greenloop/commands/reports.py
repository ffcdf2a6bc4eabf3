"""`report`."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.commands.running import complain
from greenloop.errors import GreenloopError, InputError
from greenloop.reporting.summary import full_text
from greenloop.settings import Settings
from greenloop.way.run_dir import RunDirectory


def report_command(run_dir: Path | None, *, as_json: bool) -> int:
    """`greenloop report`: prints a saved report; the exit status."""
    try:
        directory = RunDirectory.open(run_dir or _latest(Settings.load().home))
        report = directory.load_report()
    except GreenloopError as error:
        complain(str(error))
        return error.exit_status
    sys.stdout.write(report.model_dump_json(indent=1) + "\n" if as_json else full_text(report))
    return 0


def _latest(home: Path) -> Path:
    runs = [path for path in (home / "runs").glob("*") if (path / "run.json").is_file()]
    if not runs:
        raise InputError(f"there are no runs in {home / 'runs'} yet; name a run directory")
    return max(runs, key=lambda path: (path / "run.json").stat().st_mtime)
