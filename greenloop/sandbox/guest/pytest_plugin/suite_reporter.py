"""Reporter of a project's own tests: what counts as a test, and as a failure, is pytest's word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from .reporter import EventChannel, Reporter, read_change_times


class SuiteReporter(Reporter):
    """Reports outcomes as pytest has them, and changes nothing of how tests are run."""

    pytest_itemcollected = None  # type: ignore[assignment]
    pytest_runtest_call = None  # type: ignore[assignment]
    pytest_pyfunc_call = None  # type: ignore[assignment]
    pytest_runtest_logfinish = None  # type: ignore[assignment]

    def start(
        self, channel: EventChannel, job: dict[str, Any], folders: Iterable[str] = ()
    ) -> None:
        """Set where to report to, and in which order tests are run.

        Projects may write files of their own while tests are collected, but none in `folders`.
        """
        self._channel = channel
        self._order_seed, self._doctests = job["order_seed"], job["doctests"]
        self._last_files = frozenset(job.get("last", ()))
        self._folders = tuple(folders)
        self._changed_ns = read_change_times(self._folders)

    def pytest_collectstart(self, collector: Any) -> None:
        self._current_id = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)
