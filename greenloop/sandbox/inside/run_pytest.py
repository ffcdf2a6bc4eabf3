"""Runs pytest on the files of one run and reports each test over a pipe, one JSON line an event.

The exit status alone says nothing: the host counts only the lines, and only if the last one closes
them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from . import plugins
from .capturing import take_everything
from .channel import Channel
from .reporter import Reporter


def options(work: str, ini: str) -> list[str]:
    """pytest's arguments but for the files: quiet, and with nothing of what lies around."""
    chosen = ["-q", "--no-header", "--tb=short", "-rN", "--color=no", "-p", "no:cacheprovider"]
    chosen += ["--capture=sys", "--continue-on-collection-errors", "--disable-plugin-autoload"]
    places = ["-c", ini, "--rootdir", work, "--confcutdir", work]
    values = ["truncation_limit_lines=30", "truncation_limit_chars=3000"]
    return [*chosen, *places, *(part for value in values for part in ("-o", value))]


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's targets; returns pytest's exit status."""
    take_everything()
    channel = Channel(handle, job.pop("key"))
    reporter = Reporter(job["work"] + os.sep)
    reporter.begin(channel, job)
    extra = plugins.plugins(plugins.mentioned(job["work"]))
    arguments = [*options(job["work"], job["ini"]), *plugins.options(extra)]
    arguments += ["--tb=no"] if job.get("brief") else []
    status = int(pytest.main([*arguments, *job["targets"]], plugins=[reporter, *extra]))
    channel.send("end", exit_status=status)
    return status
