"""One sandbox for the runs that grading takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from greenloop.sandbox.process import Limits, ProcessSandbox


@pytest.fixture(scope="session")
def box() -> Iterator[ProcessSandbox]:
    with ProcessSandbox(Limits(timeout_s=20, memory_bytes=512 * 1024 * 1024)) as opened:
        yield opened
