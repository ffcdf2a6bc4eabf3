"""What a command prints on standard output: JSON, or what each kind of run hands back."""

from __future__ import annotations

import sys

from greenloop.records import Report
from greenloop.reporting.summary import as_comments, healed_diff, short_verdict


def print_report(report: Report, *, as_json: bool) -> None:
    """The report, or: the code; of a script its output; of what was healed the change to it.

    Where standard output is a script's, the verdict goes to standard error.
    """
    if as_json:
        print(report.model_dump_json(indent=1))
    elif report.command == "script":
        sys.stdout.write(report.script.stdout if report.script else "")
        sys.stdout.flush()
        sys.stderr.write("".join(f"{line}\n" for line in short_verdict(report)))
    elif report.command == "heal":
        sys.stdout.write(healed_diff(report))
        sys.stdout.write(as_comments(short_verdict(report)))
    elif report.final_code:
        sys.stdout.write(report.final_code.rstrip("\n") + "\n\n")
        sys.stdout.write(as_comments(short_verdict(report)))
    sys.stdout.flush()
