"""Entry point of a project's tests: runs pytest with the project's own configuration."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import accept_undecodable_output, options
from ..pytest_plugin.reporter import Reporter
from ..scripts.module_cleanup import unload_shadowed_modules

_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)
# Settings by which pytest would exit when something is not installed, which is reported otherwise.
_OVERRIDES = ("addopts=", "required_plugins=", "minversion=", "strict_config=false")
_CONFIG_WARNINGS = "ignore::pytest.PytestConfigWarning"


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's targets and return pytest's exit status."""
    accept_undecodable_output()
    work, channel = job["work"], Channel(result_fd, job.pop("key"))
    _prepend_import_paths(work)
    reporter = Reporter(work + os.sep)
    reporter.start(channel, job)
    folders = [folder for folder, _, _ in os.walk(work)]
    loaded = plugins.load_plugins(plugins.build_usage_predicate(*folders))
    config = f"{work}/{job['config']}" if job["config"] else job["ini"]
    arguments = [*job["options"], *options(work, config), *plugins.build_plugin_options(loaded)]
    arguments += [part for item in _OVERRIDES for part in ("-o", item)]
    arguments += ["-W", _CONFIG_WARNINGS, *job["targets"]]
    status = _run_pytest(arguments, [reporter, *loaded], reporter)
    channel.send("end", exit_status=status)
    return status


def _run_pytest(arguments: list[str], loaded_plugins: list[Any], reporter: Reporter) -> int:
    """Return pytest's exit status; report an error that keeps it from starting as a failure."""
    try:
        config = _prepareconfig(arguments, loaded_plugins)
    except (ConftestImportFailure, UsageError) as error:
        path = str(error.path) if isinstance(error, ConftestImportFailure) else ""
        cause = error.__cause__ if path else None
        reporter.report_startup_error(path, cause or error)
        return _USAGE_ERROR
    try:
        return int(config.hook.pytest_cmdline_main(config=config))
    except UsageError as error:
        reporter.report_startup_error("", error)
        return _USAGE_ERROR
    finally:
        config._ensure_unconfigure()


def _prepend_import_paths(work: str) -> None:
    """Import from the project as `python -m pytest` does, and from `src` as if it were installed."""
    folders = [folder for folder in (f"{work}/src", work) if os.path.isdir(folder)]
    sys.path[:0] = folders
    present = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*folders, present)))
    for folder in folders:
        unload_shadowed_modules(folder)
