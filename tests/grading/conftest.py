"""One sandbox for the runs that grading takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from greenloop.sandbox.process import Limits, ProcessSandbox


@pytest.fixture(scope="session")
def box() -> Iterator[ProcessSandbox]:
    limits = Limits(timeout_s=20, memory_bytes=512 * 1024 * 1024, file_bytes=6 * 1024 * 1024)
    with ProcessSandbox(limits) as opened:
        yield opened
