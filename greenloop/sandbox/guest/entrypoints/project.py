"""Runs pytest on a project laid out in the run's folder, with the project's own configuration."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..protocol.channel import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.capture import accept_undecodable_output
from ..pytest_plugin.config import options
from ..pytest_plugin.reporter import Reporter
from ..scripts.module_cleanup import unload_shadowed_modules

_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)
# What is not there is told otherwise; by these pytest would end instead.
_OVERRIDES = ("addopts=", "required_plugins=", "minversion=", "strict_config=false")
_CONFIG_WARNINGS = "ignore::pytest.PytestConfigWarning"


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's targets; returns pytest's exit status."""
    accept_undecodable_output()
    work, channel = job["work"], Channel(handle, job.pop("key"))
    _prepend_import_paths(work)
    reporter = Reporter(work + os.sep)
    reporter.start(channel, job)
    extra = plugins.load_plugins(plugins.build_usage_predicate(*_list_folders(work)))
    config = f"{work}/{job['config']}" if job["config"] else job["ini"]
    arguments = [*job["options"], *options(work, config), *plugins.build_plugin_options(extra)]
    arguments += [part for item in _OVERRIDES for part in ("-o", item)]
    arguments += ["-W", _CONFIG_WARNINGS, *job["targets"]]
    status = _run_pytest(arguments, [reporter, *extra], reporter)
    channel.send("end", exit_status=status)
    return status


def _run_pytest(arguments: list[str], loaded_plugins: list[Any], reporter: Reporter) -> int:
    """pytest's exit status; what keeps it from beginning is told as a failure."""
    try:
        config = _prepareconfig(arguments, loaded_plugins)
    except ConftestImportFailure as error:
        reporter.report_startup_error(str(error.path), error.__cause__ or error)
        return _USAGE_ERROR
    except UsageError as error:
        reporter.report_startup_error("", error)
        return _USAGE_ERROR
    try:
        return int(config.hook.pytest_cmdline_main(config=config))
    except UsageError as error:
        reporter.report_startup_error("", error)
        return _USAGE_ERROR
    finally:
        config._ensure_unconfigure()


def _prepend_import_paths(work: str) -> None:
    """As `python -m pytest` has it; and what lies in `src`, which a person would have installed."""
    places = [place for place in (f"{work}/src", work) if os.path.isdir(place)]
    sys.path[:0] = places
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*places, known)))
    for place in places:
        unload_shadowed_modules(place)


def _list_folders(work: str) -> list[str]:
    return [folder for folder, _, _ in os.walk(work)]
