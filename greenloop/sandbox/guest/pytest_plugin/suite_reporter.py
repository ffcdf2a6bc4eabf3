"""Reporter of a project's own tests, for which pytest alone decides on tests and failures."""

import os
import traceback
from collections.abc import Iterable
from typing import Any

import pytest

from ..protocol.framing import Channel
from .failure_details import NO_SOCKETS, is_refused_socket
from .reporter import Reporter

_PACKAGES = f"{os.sep}site-packages{os.sep}"


class SuiteReporter(Reporter):
    """Reporter that keeps pytest's outcomes and does not change how tests are run.

    A test that opens a socket refused by the sandbox says nothing about the code, and is skipped.
    """

    pytest_itemcollected = None  # type: ignore[assignment]
    pytest_runtest_call = None  # type: ignore[assignment]
    pytest_pyfunc_call = None  # type: ignore[assignment]
    pytest_runtest_logfinish = None  # type: ignore[assignment]

    def __init__(self, channel: Channel, job: dict[str, Any], folders: Iterable[str]) -> None:
        """A project may write Python files while tests are collected, but not in `folders`."""
        super().__init__(channel, job)
        self._refused_ids: set[str] = set()
        self._watch(folders)

    def pytest_collectstart(self, collector: Any) -> None:
        self._current_id = collector.nodeid
        if isinstance(collector, pytest.File):
            self._channel.send("started", id=collector.nodeid)

    def _inspect_error(self, item: Any, error: BaseException, made: Any) -> None:
        super()._inspect_error(item, error, made)
        if is_refused_socket(error) and self._is_opened_by(item, error):
            report = made.get_result()
            path, line, _ = report.location
            report.outcome, report.longrepr = "skipped", (path, line or 0, NO_SOCKETS)
            if item.nodeid not in self._refused_ids:
                self._refused_ids.add(item.nodeid)
                self._skipping_files[item.nodeid] = str(item.path).removeprefix(self._work)
                self._channel.send("refused", id=item.nodeid, what=NO_SOCKETS)

    def _is_opened_by(self, item: Any, error: BaseException) -> bool:
        """Return whether the error's only project files are the test's own and conftest files."""
        paths = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
        own = {path for path in paths if path.startswith(self._work) and _PACKAGES not in path}
        return all(
            path == str(item.path) or os.path.basename(path) == "conftest.py" for path in own
        )

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        if node.nodeid not in self._refused_ids or not report.skipped:
            super().pytest_exception_interact(node, call, report)
