"""Runs pytest on the files of one run and reports each test over a pipe, one JSON line an event.

The exit status alone says nothing: the host counts only the lines, and only if the last one closes
them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from ..protocol.channel import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.capture import accept_undecodable_output
from ..pytest_plugin.config import options
from ..pytest_plugin.reporter import Reporter


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's targets; returns pytest's exit status."""
    accept_undecodable_output()
    channel = Channel(handle, job.pop("key"))
    reporter = Reporter(job["work"] + os.sep)
    reporter.start(channel, job)
    extra = plugins.load_plugins(plugins.build_usage_predicate(job["work"]))
    arguments = [*options(job["work"], job["ini"]), *plugins.build_plugin_options(extra)]
    arguments += ["--tb=no"] if job.get("brief") else []
    status = int(pytest.main([*arguments, *job["targets"]], plugins=[reporter, *extra]))
    channel.send("end", exit_status=status)
    return status
