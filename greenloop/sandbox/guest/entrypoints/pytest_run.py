"""Entry point of a test run: runs pytest on the job's files and reports each test as an event.

The host ignores the exit status: only the reported events count, and only if the last one ends them.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import accept_undecodable_output, options
from ..pytest_plugin.reporter import Reporter


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's targets and return pytest's exit status."""
    accept_undecodable_output()
    channel = Channel(result_fd, job.pop("key"))
    reporter = Reporter(job["work"] + os.sep)
    reporter.start(channel, job)
    loaded = plugins.load_plugins(plugins.build_usage_predicate(job["work"]))
    arguments = [*options(job["work"], job["ini"]), *plugins.build_plugin_options(loaded)]
    arguments += ["--tb=no"] if job.get("brief") else []
    status = int(pytest.main([*arguments, *job["targets"]], plugins=[reporter, *loaded]))
    channel.send("end", exit_status=status)
    return status
