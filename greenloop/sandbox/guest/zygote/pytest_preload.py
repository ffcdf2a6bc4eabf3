"""Preloading of a zygote: a pytest session that is begun before a run is known."""

from __future__ import annotations

import contextlib
import fnmatch
import os
from collections.abc import Callable, Mapping
from typing import Any

from ..entrypoints import EntryPoint
from ..entrypoints.pytest_run import ProgramPlugin
from ..isolation.run_mounts import WORK_FOLDER
from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import (
    accept_undecodable_output,
    ini_file,
    options,
    remove_assert_rewriting,
)
from ..pytest_plugin.reporter import Reporter
from . import child
from .file_descriptors import InheritedDescriptors
from .supervisor import GuestRun

# Loaded when a session begins. If another version of pytest loads others, each run loads those.
PYTEST_MODULES = (
    "_pytest._argcomplete _pytest.faulthandler _pytest.helpconfig _pytest.junitxml _pytest.pastebin "
    "_pytest.setuponly _pytest.setupplan _pytest.skipping _pytest.subtests _pytest.threadexception "
    "_pytest.tracemalloc _pytest.unittest _pytest.unraisableexception _pytest.warnings getpass "
    "readline termios"
).split()

WaitForRun = Callable[[], GuestRun]


def hold_session(
    wait_for_run: WaitForRun,
    inherited: InheritedDescriptors,
    entrypoints: Mapping[str, EntryPoint],
    packages: str = "",
) -> None:
    """Begin a pytest session and hold it before collection: each fork goes on with its own files.

    `wait_for_run` returns in a fork, with its job, which one of `entrypoints` serves where this
    session cannot. `packages` is the folder of packages, whose pytest plugins are loaded. Returns only if the
    internals of this pytest are not as expected; then each run begins a session of its own.
    """
    held = _HeldSession(WORK_FOLDER, wait_for_run, entrypoints, packages)
    with inherited.recording():
        try:
            status = held.run()
        except BaseException as error:
            if not held.is_released:
                return
            child.exit_with_error(error)
        child.exit_with(lambda: held.close(status))


class _HeldSession:
    """A pytest session that is held before collection until a run is known."""

    def __init__(
        self,
        work: str,
        wait_for_run: WaitForRun,
        entrypoints: Mapping[str, EntryPoint],
        packages: str,
    ) -> None:
        self._packages, self._entrypoints = packages, entrypoints
        self._work, self._wait_for_run = work, wait_for_run
        self._reporter = Reporter(work + os.sep)
        self.is_released = False

    def run(self) -> int:
        """Run pytest's session from begin to end and return its exit status."""
        from _pytest.config import _prepareconfig
        from _pytest.main import wrap_session

        accept_undecodable_output()
        extra = plugins.load_plugins(self._packages)
        # pytest's faulthandler would keep a duplicate of the zygote's standard error.
        arguments = [*options(self._work, ini_file()), "-p", "no:faulthandler"]
        arguments += plugins.build_plugin_options(extra)
        config = _prepareconfig(arguments, [self._reporter, *extra])
        return int(wrap_session(config, self._resume))

    def _resume(self, config: Any, session: Any) -> Any:
        """Wait for a run; what follows happens in the run's process."""
        from _pytest.main import _main

        for pattern in config.getini("python_files"):
            fnmatch.fnmatch("", pattern)  # compiles it, once for all forks
        job, handle = self._wait_for_run()
        self.is_released = True
        if not child.uses_preloaded_session(job):
            config.pluginmanager.unregister(self._reporter)
            held = config, session
            child.exit_with(lambda: child.run_cold(job, handle, self._entrypoints, held))
        self._job, self._channel = job, Channel(handle, job.pop("key"))
        self._reporter.start(self._channel, job)
        if job.get("programs"):
            config.pluginmanager.register(ProgramPlugin(job, self._channel))
        _reset_session_state(config)
        if job.get("plain_asserts"):
            remove_assert_rewriting()
        config.args = list(job["targets"])
        return _main(config, session)

    def close(self, status: int) -> int:
        """Report the end of the run and return the status."""
        self._channel.send("end", exit_status=status)
        return status


def _reset_session_state(config: Any) -> None:
    # The folder was empty when the session began, and pytest caches that it had no conftest.
    config.pluginmanager._dirpath2confmods.clear()
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    with contextlib.suppress(AttributeError):  # the start of the duration in its last line
        terminal._session_start = type(terminal._session_start)()
