"""pytest made ready before a run is known: its session is begun once, in the zygote."""

from __future__ import annotations

import base64
import contextlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..protocol.channel import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.capture import accept_undecodable_output
from ..pytest_plugin.config import options
from ..pytest_plugin.reporter import Reporter
from ..remote_module import tests_side
from . import child
from .supervisor import GuestRun

_COMMON_MODULES = (
    "abc argparse array asyncio base64 bisect calendar cmath collections collections.abc contextlib "
    "copy csv dataclasses datetime decimal difflib doctest email enum fractions functools glob hashlib "
    "heapq html importlib inspect io itertools json keyword logging math numbers operator os pathlib "
    "pickle pprint queue random re shutil sqlite3 statistics string struct subprocess tempfile "
    "textwrap threading time timeit tokenize traceback types typing unicodedata unittest "
    "unittest.mock urllib.parse uuid warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo"
).split()
# What a session loads when it begins. Another version of pytest may have none of one, or others:
# then each run loads those.
_PYTEST_MODULES = (
    "_pytest._argcomplete _pytest.faulthandler _pytest.helpconfig _pytest.junitxml _pytest.pastebin "
    "_pytest.setuponly _pytest.setupplan _pytest.skipping _pytest.subtests _pytest.threadexception "
    "_pytest.tracemalloc _pytest.unittest _pytest.unraisableexception _pytest.warnings getpass "
    "readline termios"
).split()

WaitForRun = Callable[[], GuestRun]


def hold_session(
    work: str, ini: str, wait_for_run: WaitForRun, packages: Sequence[str] = ()
) -> None:
    """A pytest session, begun, that is held where it would collect: a copy goes on with its files.

    `next_run` returns in a copy only, with a run's job. `packages` are those whose plugins the runs
    use. This returns only where the internals of
    this pytest are not as expected; then each run starts a session from the beginning.
    """
    held = _HeldSession(work, ini, wait_for_run, packages)
    try:
        status = held.run()
    except BaseException as error:
        if not held.is_released:
            return
        child.exit_with_error(error)
    child.exit_with(lambda: held.close(status))


class _HeldSession:
    def __init__(
        self, work: str, ini: str, wait_for_run: WaitForRun, packages: Sequence[str]
    ) -> None:
        self._packages = packages
        self._work, self._ini, self._wait_for_run = work, ini, wait_for_run
        self._reporter = Reporter(work + os.sep)
        self.is_released = False

    def run(self) -> int:
        """pytest's own session, from its beginning to its end; its exit status."""
        from _pytest.config import _prepareconfig
        from _pytest.main import wrap_session

        accept_undecodable_output()
        extra = plugins.load_plugins(self._packages.__contains__)
        # Its faulthandler would keep a copy of the zygote's standard error; a run has its own.
        arguments = [*options(self._work, self._ini), "-p", "no:faulthandler"]
        arguments += plugins.build_plugin_options(extra)
        config = _prepareconfig(arguments, [self._reporter, *extra])
        return int(wrap_session(config, self._resume))

    def _resume(self, config: Any, session: Any) -> Any:
        """Where the session waits; what comes after `next_run` happens in a run's process."""
        from _pytest.main import _main

        job, handle = self._wait_for_run()
        self.is_released = True
        if job["kind"] == "compile":
            child.exit_with(lambda: compile_tests(config, job, handle))
        if not child.uses_preloaded_session(job):
            child.exit_with(lambda: child.run_cold(job, handle))
        self._channel = Channel(handle, job.pop("key"))
        self._reporter.start(self._channel, job)
        if job["kind"] == "split":
            config.pluginmanager.register(tests_side.begun(job, self._channel))
        _reset_session_state(config)
        if job.get("brief"):
            config.option.tbstyle = "no"
        config.args = list(job["targets"])
        return _main(config, session)

    def close(self, status: int) -> int:
        self._channel.send("end", exit_status=status)
        return status


def _reset_session_state(config: Any) -> None:
    # When it was made ready the folder was empty, and pytest remembers that it had no conftest.
    config.pluginmanager._dirpath2confmods.clear()
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    with contextlib.suppress(AttributeError):  # its last line says how long it took
        terminal._session_start = type(terminal._session_start)()


def compile_tests(config: Any, job: dict[str, Any], handle: int) -> int:
    """Sends test files as pytest would cache them, assertions rewritten. Nothing of them is run."""
    from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc_fp

    channel = Channel(handle, job.pop("key"))
    for name in job["targets"]:
        with contextlib.suppress(Exception):  # then each run does it for itself, and says why not
            source_hash, code = _rewrite_test(Path(job["work"], name), config)
            data = io.BytesIO()
            _write_pyc_fp(data, source_hash, code)
            text = base64.b64encode(data.getvalue()).decode()
            path = f"__pycache__/{name.removesuffix('.py')}{PYC_TAIL}"
            channel.send("compiled", name=name, path=path, data=text)
    channel.send("end", exit_status=0)
    return 0


def preload_modules(pytest_only: bool = False) -> None:
    """Loads what tests usually import, and what pytest imports while it runs.

    `bare`: only the latter. An import that the code lacks, and that is there because somebody else
    has made it, is found out in such a process.
    """
    for name in (*_PYTEST_MODULES, *(() if pytest_only else _COMMON_MODULES)):
        with contextlib.suppress(Exception):
            __import__(name)
