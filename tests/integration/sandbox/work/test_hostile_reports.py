"""Reports that are written to keep the host busy, or to break it."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.observations import observe
from greenloop.sandbox.work.trials.patches import measure_tests

ONE_HASH = [
    number * ((1 << 61) - 1) for number in range(60_000)
]  # multiples of sys.hash_info.modulus
MAX_CPU_SECONDS = 5.0
END = {"event": "end"}


@contextmanager
def deadline() -> Iterator[None]:
    before = time.process_time()
    yield
    assert time.process_time() - before < MAX_CPU_SECONDS


class _Reporter:
    """A sandbox in which every job reports these events."""

    packages, limits, can_fork = InstalledPackages(), ResourceLimits(), True
    place_trial = Sandbox.place_trial

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = events

    def run(self, job: Job) -> ProcessResult:
        data = "".join(f"{job.key} {json.dumps(item)}\n" for item in self._events).encode()
        return ProcessResult("finished", 0, b"", data, 1.0)


def test_the_numbers_have_one_hash() -> None:
    assert len(set(map(hash, ONE_HASH))) == 1


def test_lines_of_one_hash() -> None:
    lines = {"event": "measured", "test": "t", "outcome": "passed", "lines": ONE_HASH}
    sandbox: Any = _Reporter([{**lines, "cpu_s": 1, "wall_s": 1}, END])
    with deadline():
        assert measure_tests(sandbox, "", [], module="m", max_cpu_s=1, budget_s=9).tests == ()


def test_rows_of_one_hash() -> None:
    events = [{"event": "begin", "program": 0, "row": number} for number in ONE_HASH]
    with deadline():
        seen = observe(_Reporter([*events, END]), "", "m", "")  # type: ignore[arg-type]
    assert seen.error == "the report of the programs is invalid"
