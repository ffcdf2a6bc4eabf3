"""One sandbox for all, and a way to run many programs side by side: each costs a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from greenloop.records import TestRun
from greenloop.sandbox.process import Limits, ProcessSandbox

Programs = Mapping[str, tuple[str, str]]
RunAll = Callable[[Programs], dict[str, TestRun]]


@pytest.fixture(scope="session")
def box() -> Iterator[ProcessSandbox]:
    limits = Limits(timeout_s=20, memory_bytes=512 * 1024 * 1024, file_bytes=6 * 1024 * 1024)
    with ProcessSandbox(limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def run_all(box: ProcessSandbox) -> RunAll:
    """Runs (code, tests) by name, a few at once."""

    def run(programs: Programs) -> dict[str, TestRun]:
        with ThreadPoolExecutor(3) as pool:
            runs = pool.map(lambda pair: box.run_tests(*pair, module="solution"), programs.values())
            return dict(zip(programs, runs, strict=True))

    return run
