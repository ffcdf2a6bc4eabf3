"""Reporter of a project's own tests: what counts as a test, and as a failure, is pytest's word."""

from collections.abc import Iterable
from typing import Any

import pytest

from .reporter import EventChannel, Reporter


class SuiteReporter(Reporter):
    """Reports outcomes as pytest has them, and changes nothing of how tests are run."""

    pytest_itemcollected = None  # type: ignore[assignment]
    pytest_runtest_call = None  # type: ignore[assignment]
    pytest_pyfunc_call = None  # type: ignore[assignment]
    pytest_runtest_logfinish = None  # type: ignore[assignment]

    def __init__(self, channel: EventChannel, job: dict[str, Any], folders: Iterable[str]) -> None:
        """Projects may write files of their own while tests are collected, but none in `folders`."""
        super().__init__(channel, job)
        self._watch(folders)

    def pytest_collectstart(self, collector: Any) -> None:
        self._current_id = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)
