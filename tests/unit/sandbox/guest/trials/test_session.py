"""Outcomes of tests in trials: those of a run of their own."""

import errno
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.line_tracing import stop_tracing
from greenloop.sandbox.guest.trials.session import FAILED, PASSED, SKIPPED, TrialSession


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, PASSED),
        (pytest.skip.Exception("not here"), SKIPPED),
        (OSError(errno.EAFNOSUPPORT, "refused by the sandbox"), SKIPPED),
        (OSError(errno.ENOENT, "no such file"), FAILED),
        (AssertionError(), FAILED),
    ],
)
def test_what_the_sandbox_refuses_is_no_failure(error: BaseException | None, outcome: str) -> None:
    session = TrialSession("/work/m.py", lambda session: lambda _: None, has_conftest=False)
    stop_tracing()
    item: Any = SimpleNamespace(nodeid="t", location=("t.py", 1, "t"))
    raised = SimpleNamespace(value=error) if error else None
    call: Any = SimpleNamespace(excinfo=raised, when="call")
    assert session.pytest_runtest_makereport(item, call).outcome == outcome
