"""pytest plug-in that stops before it loads anything of the project, and runs tests in forks.

Only public hooks of pytest 7.4 and later are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ..limits.proc_stats import own_cpu_seconds
from ..pytest_plugin.failure_details import is_refused_socket
from .generated_examples import end_at_first_failure
from .line_tracing import record_calls, stop_tracing

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class TrialSession:
    """Session of pytest whose collected tests are run on request.

    Attributes:
        items: The tests in the order of pytest.
        is_collected: Whether all files were collected and contain tests.
        called: Functions of the file called by plug-ins, conftest files and the collection.
        collect_s: CPU seconds of the collection.
    """

    def __init__(
        self,
        path: str,
        hold: Callable[[TrialSession], Callable[[TrialSession], None]],
        *,
        has_conftest: bool,
    ) -> None:
        """`hold` is called before anything of the project is loaded, and returns only in forks.

        The function that it returns is called after the collection, in place of the loop over the
        tests. Without a conftest nothing is loaded before the collection.
        """
        self._hold, self._outcome = hold, PASSED
        self._has_conftest = has_conftest
        self._serve: Callable[[TrialSession], None] | None = None
        self.items: list[Any] = []
        self.is_collected = False
        self.called: set[tuple[str, int]] = set()
        self.collect_s = 0.0
        record_calls(path, self.called)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # wraps the hook of pytest's capture
    def pytest_load_initial_conftests(self) -> Iterator[None]:
        if self._has_conftest:
            self._serve = self._hold(self)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self, session: Any) -> Iterator[None]:
        self._serve = self._serve or self._hold(self)
        session.config.pluginmanager.unregister(name="terminalreporter")
        before = own_cpu_seconds()
        yield
        stop_tracing()
        self.collect_s = own_cpu_seconds() - before

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> None:
        self.items = list(session.items)
        self.is_collected = bool(self.items) and not session.testsfailed
        end_at_first_failure(self.items)
        assert self._serve is not None
        self._serve(self)
        os._exit(0)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> pytest.TestReport:
        """Return a report without a description of the failure, which takes longer than the test.

        A test that needs a socket refused by the sandbox is skipped, as in an ordinary run.
        """
        error = call.excinfo.value if call.excinfo is not None else None
        is_skip = isinstance(error, pytest.skip.Exception) or (
            error is not None and is_refused_socket(error)
        )
        outcome: Any = PASSED if call.excinfo is None else SKIPPED if is_skip else FAILED
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._outcome = FAILED
        elif report.skipped and self._outcome == PASSED and not hasattr(report, "context"):
            self._outcome = SKIPPED

    def run_until_failure(
        self, numbers: Sequence[int], on_start: Callable[[int], None]
    ) -> int | None:
        """Run these tests and return the number of the first that fails.

        `on_start` is called with the number of each.
        """
        following: list[int | None] = [*numbers[1:], None]
        for number, after in zip(numbers, following, strict=False):
            on_start(number)
            if self.run(number, after) == FAILED:
                return number
        return None

    def run(self, number: int, after: int | None = None) -> str:
        """Run a test and return its outcome; `after` is the test that is run next."""
        item = self.items[number]
        nextitem = None if after is None else self.items[after]
        self._outcome = PASSED
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        except BaseException:  # pytest.exit or KeyboardInterrupt
            return FAILED
        return self._outcome
