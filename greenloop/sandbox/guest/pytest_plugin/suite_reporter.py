"""Reporter of a project's own tests: what counts as a test, and as a failure, is pytest's word."""

from __future__ import annotations

from typing import Any

import pytest

from .reporter import EventChannel, Reporter


class SuiteReporter(Reporter):
    """Reports outcomes as pytest has them, and changes nothing of how tests are run."""

    pytest_itemcollected = None  # type: ignore[assignment]
    pytest_runtest_call = None  # type: ignore[assignment]
    pytest_pyfunc_call = None  # type: ignore[assignment]
    pytest_runtest_logfinish = None  # type: ignore[assignment]

    def start(self, channel: EventChannel, job: dict[str, Any], folders: Any = ()) -> None:
        """Set where to report to, and in which order tests are run."""
        self._channel = channel
        self._order_seed, self._doctests = job["order_seed"], job["doctests"]
        self._last_files = frozenset(job.get("last", ()))

    def pytest_collectstart(self, collector: Any) -> None:
        self._current_id = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)

    def _report_rewritten_files(self) -> None:
        """Report nothing: projects may write files of their own while tests are collected."""
