"""Runs pytest on a project laid out in the run's folder, with the project's own configuration."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..protocol.channel import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.capture import take_everything
from ..pytest_plugin.config import options
from ..pytest_plugin.reporter import Reporter
from ..scripts.module_cleanup import forget_shadowed

_USAGE = int(pytest.ExitCode.USAGE_ERROR)
# What is not there is told otherwise; by these pytest would end instead.
_OVERRIDES = ("addopts=", "required_plugins=", "minversion=", "strict_config=false")
_CONFIG_WARNINGS = "ignore::pytest.PytestConfigWarning"


def main(job: dict[str, Any], handle: int) -> int:
    """Runs the job's targets; returns pytest's exit status."""
    take_everything()
    work, channel = job["work"], Channel(handle, job.pop("key"))
    _make_importable(work)
    reporter = Reporter(work + os.sep)
    reporter.begin(channel, job)
    extra = plugins.plugins(plugins.mentioned(*_folders(work)))
    config = f"{work}/{job['config']}" if job["config"] else job["ini"]
    arguments = [*job["options"], *options(work, config), *plugins.options(extra)]
    arguments += [part for item in _OVERRIDES for part in ("-o", item)]
    arguments += ["-W", _CONFIG_WARNINGS, *job["targets"]]
    status = _pytest(arguments, [reporter, *extra], reporter)
    channel.send("end", exit_status=status)
    return status


def _pytest(arguments: list[str], extra: list[Any], reporter: Reporter) -> int:
    """pytest's exit status; what keeps it from beginning is told as a failure."""
    try:
        config = _prepareconfig(arguments, extra)
    except ConftestImportFailure as error:
        reporter.broken_at_start(str(error.path), error.__cause__ or error)
        return _USAGE
    except UsageError as error:
        reporter.broken_at_start("", error)
        return _USAGE
    try:
        return int(config.hook.pytest_cmdline_main(config=config))
    except UsageError as error:
        reporter.broken_at_start("", error)
        return _USAGE
    finally:
        config._ensure_unconfigure()


def _make_importable(work: str) -> None:
    """As `python -m pytest` has it; and what lies in `src`, which a person would have installed."""
    places = [place for place in (f"{work}/src", work) if os.path.isdir(place)]
    sys.path[:0] = places
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*places, known)))
    for place in places:
        forget_shadowed(place)


def _folders(work: str) -> list[str]:
    return [folder for folder, _, _ in os.walk(work)]
