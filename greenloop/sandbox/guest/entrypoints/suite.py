"""Entry point of a project's tests in the project's own environment: pytest as its owner runs it.

What is added is a plug-in that reports, and a few options; what is taken away cannot work here.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..coverage.recorder import HitRecorder
from ..isolation.shared_memory import limit_shared_mappings
from ..protocol.framing import Channel
from ..pytest_plugin.config import accept_undecodable_output
from ..pytest_plugin.suite_options import SuiteOptions, build_arguments
from ..pytest_plugin.suite_reporter import SuiteReporter

_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's `targets` with its `options`; return pytest's exit status."""
    accept_undecodable_output()
    limit_shared_mappings()
    root, channel = job["work"], Channel(result_fd, job.pop("key"))
    sys.path.insert(0, root)  # as `python -m pytest` does
    reporter = SuiteReporter(root + os.sep)
    reporter.start(channel, job)
    added: list[Any] = [reporter, SuiteOptions()]
    if job["traced"]:
        recorder = HitRecorder(root + os.sep, job["traced"], channel.send)
        recorder.install()
        added.append(recorder)
    arguments = [*build_arguments(root), *job["options"], *job["targets"]]
    channel.send("end", exit_status=_run(arguments, added, reporter))
    return 0


def _run(arguments: list[str], added: list[Any], reporter: SuiteReporter) -> int:
    """Return pytest's exit status; report an error that keeps it from starting as a failure."""
    try:
        config = _prepareconfig(arguments, added)
    except Exception as error:
        path = str(error.path) if isinstance(error, ConftestImportFailure) else ""
        reporter.report_startup_error(path, error.__cause__ or error)
        return _USAGE_ERROR
    try:
        return int(config.hook.pytest_cmdline_main(config=config))
    except UsageError as error:
        reporter.report_startup_error("", error)
        return _USAGE_ERROR
    finally:
        config._ensure_unconfigure()
