"""Entry point of test runs: runs pytest and reports each test as an event.

The host ignores the exit status: only the reported events count, and only if the last one ends
them. A project's tests are run with the project's own configuration.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..coverage.recorder import HitRecorder
from ..observation.runner import Place, Runner, load_async_runner
from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import accept_undecodable_output, options
from ..pytest_plugin.reporter import Reporter
from ..scripts.module_cleanup import unload_shadowed_modules

_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)
# Settings by which pytest would exit when something is not installed, which is reported otherwise.
_OVERRIDES = ("addopts=", "required_plugins=", "minversion=", "strict_config=false")
_MARK = re.compile(rb"\bmark\.([a-zA-Z]\w*)")
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
    if is_project:
        config = f"{work}/{job['config']}" if job["config"] else job["ini"]
        arguments = [*job["options"], *options(work, config), *common]
        arguments += [part for item in _OVERRIDES for part in ("-o", item)]
        arguments += ["-W", _CONFIG_WARNINGS, *job["targets"]]
        if job["traced"]:
            recorder = HitRecorder(work + os.sep, job["traced"], channel.send)
            recorder.install()
            loaded.append(recorder)
        loaded.append(MarkPlugin(folders))
        status = _run_project(arguments, [reporter, *loaded], reporter)
    else:
        arguments = [*options(work, job["ini"]), *common]
        arguments += [*(["--assert=plain"] if job.get("plain_asserts") else ()), *job["targets"]]
        loaded += [ProgramPlugin(job, channel)] if job.get("programs") else []
        status = int(pytest.main(arguments, plugins=[reporter, *loaded]))
    channel.send("end", exit_status=status)
    return status


class MarkPlugin:
    """Registers the marks that files name: the plug-ins of a project, which do that, are absent."""

    def __init__(self, folders: Sequence[str]) -> None:
        paths = (f"{folder}/{name}" for folder in folders for name in os.listdir(folder))
        self._names: set[str] = set()
        for path in paths:
            if path.endswith(".py") and os.path.isfile(path):
                with open(path, "rb") as file:
                    self._names.update(map(bytes.decode, _MARK.findall(file.read())))

    def pytest_configure(self, config: Any) -> None:
        for name in sorted(self._names):
            config.addinivalue_line("markers", f"{name}: named by a file of the project")


class ProgramPlugin:
    """Runs the job's programs beside its tests: within the last one, where all is as in a test."""

    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        self._job, self._channel = job, channel
        self._run_async, self._has_run = load_async_runner(job["programs"]), False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Any:
        yield
        self._run_after(pyfuncitem)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        yield
        self._run_after(item)  # of a test that is no function

    def _run_after(self, item: Any) -> None:
        if self._has_run or item is not item.session.items[-1]:
            return
        self._has_run = True
        factory = item.config._tmp_path_factory
        place = Place(item.module.__name__, lambda: str(factory.mktemp("test")))
        runner = Runner(*(self._channel.send, self._job["module"], self._run_async), place=place)
        runner.run(self._job["programs"])


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
