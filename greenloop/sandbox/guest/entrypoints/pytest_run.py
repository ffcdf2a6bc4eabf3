"""Entry point of test runs: runs pytest and reports each test as an event.

The host ignores the exit status: only the reported events count, and only if the last one ends
them. A project's tests are run with the project's own configuration.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..coverage.recorder import HitRecorder
from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import accept_undecodable_output, options
from ..pytest_plugin.reporter import Reporter
from ..scenarios.runner import Runner, load_async_runner
from ..scenarios.state.framework import FrameworkState
from ..scripts.module_cleanup import unload_shadowed_modules

_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)
# Settings by which pytest would exit when something is not installed, which is reported otherwise.
_OVERRIDES = ("addopts=", "required_plugins=", "minversion=", "strict_config=false")
_CONFIG_WARNINGS = "ignore::pytest.PytestConfigWarning"


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the targets of a job of kind `tests` or `project`; return pytest's exit status."""
    accept_undecodable_output()
    work, channel = job["work"], Channel(result_fd, job.pop("key"))
    folders, is_project = [work], job["kind"] == "project"
    if is_project:
        _prepend_import_paths(work)
        folders = [folder for folder, _, _ in os.walk(work)]
    reporter = Reporter(work + os.sep)
    reporter.start(channel, job, folders)
    loaded = plugins.load_plugins(plugins.build_usage_predicate(*folders))
    common = plugins.build_plugin_options(loaded)
    framework = note_framework(job)
    if is_project:
        config = f"{work}/{job['config']}" if job["config"] else job["ini"]
        arguments = [*job["options"], *options(work, config), *common]
        arguments += [part for item in _OVERRIDES for part in ("-o", item)]
        arguments += ["-W", _CONFIG_WARNINGS, *job["targets"]]
        if job["traced"]:
            recorder = HitRecorder(work + os.sep, job["traced"], channel.send)
            recorder.install()
            loaded.append(recorder)
        status = _run_project(arguments, [reporter, *loaded], reporter)
    else:
        arguments = [*options(work, job["ini"]), *common]
        arguments += [*(["--assert=plain"] if job.get("plain_asserts") else ()), *job["targets"]]
        status = int(pytest.main(arguments, plugins=[reporter, *loaded]))
    report_end(job, channel, status, framework)
    return status


def note_framework(job: dict[str, Any]) -> FrameworkState | None:
    """Return the state of the framework before the tests, where scenarios are run after them."""
    texts = job.get("scenarios")
    return FrameworkState(load_async_runner(texts)) if texts else None


def report_end(
    job: dict[str, Any], channel: Channel, status: int, framework: FrameworkState | None
) -> None:
    """Run the job's scenarios, if it has any, beside its tests; report the end of the run."""
    if framework is not None:
        channel.send("framework", replaced=framework.find_replaced())
        Runner(channel.send, job["module"], framework.run_async).run_all(job["scenarios"])
    channel.send("end", exit_status=status)


def _run_project(arguments: list[str], loaded_plugins: list[Any], reporter: Reporter) -> int:
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
