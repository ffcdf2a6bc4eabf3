"""Entry point of test runs: runs pytest and reports each test as an event.

The host ignores the exit status: only the reported events count, and only if `end` is the last.
"""

from typing import Any

import pytest

from ..coverage.recorder import install_recorder
from ..observation.runner import Place, Runner, load_async_runner
from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import accept_undecodable_output, options
from ..pytest_plugin.reporter import Reporter


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the targets of a job of kind `tests`; return pytest's exit status."""
    accept_undecodable_output()
    work, channel = job["work"], Channel(result_fd, job.pop("key"))
    reporter = Reporter(channel, job)
    loaded = plugins.load_plugins(job["packages"])
    arguments = [*options(work, job["ini"]), *plugins.build_plugin_options(loaded)]
    flags = {"--assert=plain": job.get("plain_asserts"), "--exitfirst": job.get("stops_early")}
    arguments += [*filter(flags.get, flags), *job["targets"]]
    loaded += [ProgramPlugin(job, channel)] if job.get("programs") else []
    loaded += install_recorder(job, channel)
    status = int(pytest.main(arguments, plugins=[reporter, *loaded]))
    channel.send("end", exit_status=status)
    return status


class ProgramPlugin:
    """Plug-in that runs the job's programs within its last test, in the state of a running test."""

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
        self._run_after(item)  # for a test that is not a function

    def _run_after(self, item: Any) -> None:
        if self._has_run or item is not item.session.items[-1]:
            return
        self._has_run = True
        factory = item.config._tmp_path_factory
        place = Place(item.module.__name__, lambda: str(factory.mktemp("test")))
        runner = Runner(*(self._channel.send, self._job["module"], self._run_async), place=place)
        runner.run(self._job["programs"])
