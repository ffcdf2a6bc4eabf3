"""Entry point of trials: runs, for each edit of one file, the tests that may notice it.

This process loads pytest and its plug-ins, and stops before it loads anything of the project. It
then forks: first a process that collects the tests and tries edits in its own forks, then one
process for each edit that needs a new import.
"""

import gc
import os
import random
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO

import pytest

from ..isolation.null_device import list_open_fds, redirect_to_null
from ..limits.proc_stats import own_cpu_seconds
from ..protocol.framing import Channel
from ..pytest_plugin import plugins
from ..pytest_plugin.config import options
from ..trials.driver import ForkRequest, TrialDriver
from ..trials.forks import Reporter, StepLimits, become_subreaper, start_fork
from ..trials.limits import COLLECTION, NO_LIMITS, Budget, limit_memory, limit_step
from ..trials.line_tracing import stop_tracing
from ..trials.server import FreshTrial, TrialServer
from ..trials.session import TrialSession
from ..trials.swap import EditedFile
from .suite import prepare_session

Serve = Callable[[TrialSession], None]


class _Trials:
    """Process of a job; `hold` returns only in its forks."""

    def __init__(self, job: dict[str, Any], result_fd: int) -> None:
        self._job, self._result_fd = job, result_fd
        self._channel = Channel(result_fd, job.pop("key"))
        self._file = EditedFile(os.path.join(job["work"], job["path"]))
        self._driver = TrialDriver(job, self._file, self._channel)
        self._reporter: Reporter | None = None

    @property
    def path(self) -> str:
        return self._file.path

    def hold(self, session: TrialSession) -> Serve:
        """Run the trials and exit; in forks, return the function to call with the collected tests.

        Calls are recorded only in the process that collects the tests, because recording is slow.
        """
        become_subreaper()
        gc.collect()
        gc.freeze()  # otherwise a collection in a fork would copy all pages
        trials = self._driver.run()
        try:
            request = next(trials)
            while True:
                receive, send = os.pipe()
                fork = start_fork(self._get_limits(request))
                if isinstance(fork, Reporter):
                    os.close(send)
                    return self._enter_fork(fork, request, os.fdopen(receive, "rb"))
                os.close(receive)
                stop_tracing()
                request = trials.send((fork, os.fdopen(send, "wb")))
        except StopIteration:
            self._channel.send("end", exit_status=0, cpu_s=own_cpu_seconds())
            os._exit(0)
        except (EOFError, OSError) as error:
            self._channel.send("trouble", what=str(error))
            os._exit(1)

    def _get_limits(self, request: ForkRequest) -> Callable[[int], StepLimits]:
        if request.order is None:
            limits = NO_LIMITS._replace(cpu_s=self._job["max_collect_s"])
            return lambda step: limits if step == COLLECTION else NO_LIMITS
        return lambda step: limit_step(
            self._driver.baseline.tests, self._driver.baseline.collect_s, step
        )

    def _enter_fork(self, reporter: Reporter, request: ForkRequest, requests: BinaryIO) -> Serve:
        os.close(self._result_fd)
        self._reporter = reporter
        reporter.begin(COLLECTION)
        if request.order is None:
            # Only those from before the collection: tests may use what they open in it, such as an
            # event loop.
            own = requests.fileno()
            self._job["shared_fds"] = [number for number in list_open_fds() if number != own]
            return TrialServer(self._job, self._file, requests, reporter).serve
        requests.close()
        self._driver.baseline.close()
        redirect_to_null(self._job["shared_fds"])
        peak_bytes = max(
            [int(item["peak_bytes"]) for item in self._driver.baseline.tests], default=0
        )
        limit_memory(peak_bytes, self._job["limits"]["total_bytes"])
        return FreshTrial(reporter, request.known, request.order).run

    def report_no_session(self) -> None:
        """Report that pytest ended before the tests could be run, to the parent if in a fork."""
        if self._reporter is not None:
            self._reporter.finish({"killed": "collection"})
        self._channel.send("trouble", what="pytest does not start")


def main(job: dict[str, Any], result_fd: int) -> int:
    """Try the job's edits, on a project's tests if it has `args`; exit with 0 unless that fails.

    The job has `work` (the root of the session), `path` (of the file, relative to it), `edits`,
    `tests` (earlier measurements or []), `budget_s` and `wall_s` (CPU and wall-clock time),
    `limits`, and `is_red`: find edits that make failing tests pass, by `margin` and `enough`.
    """
    random.seed(0)
    tempfile.tempdir = None
    job["budget"] = Budget(job["budget_s"], job["wall_s"])
    job["folders"] = [job["work"], tempfile.gettempdir(), os.path.expanduser("~")]
    job["shared_fds"] = [number for number in list_open_fds() if number != result_fd]
    trials = _Trials(job, result_fd)
    if "args" in job:
        arguments, loaded = _build_suite_arguments(job)
    else:
        arguments, loaded = _build_arguments(job)
    has_conftest = "args" in job or "conftest.py" in os.listdir(job["work"])
    session = TrialSession(trials.path, trials.hold, has_conftest=has_conftest)
    pytest.main(arguments, plugins=[session, *loaded])
    trials.report_no_session()
    return 1


def _build_suite_arguments(job: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return pytest's arguments and plug-ins for tests of a project, run as its owner runs them.

    Output is captured in memory, because captured descriptors would not be those of a fork.
    """
    arguments, added = prepare_session(job)
    return [*arguments, "--tb=no", "--capture=sys", *job["args"]], added


def _build_arguments(job: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return pytest's arguments for files of a single folder, and the plug-ins that they use."""
    work = job["work"]
    loaded = plugins.load_plugins(job["packages"])
    arguments = [*options(work, job["ini"]), "--assert=plain"]
    arguments += plugins.build_plugin_options(loaded)
    return [*arguments, *(os.path.join(work, name) for name in job["targets"])], loaded
