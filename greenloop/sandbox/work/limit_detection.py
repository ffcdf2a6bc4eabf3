"""Which limits a run came up against."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Sequence
from typing import get_args

from greenloop.records import Ending, Failure, LimitName
from greenloop.sandbox.process_result import Ended

NAMES: tuple[LimitName, ...] = get_args(LimitName)
_LAST_BYTES = 4000
_NO_SPACE = "[Errno 28] No space left"
# What Python says of limits; a failure's text is foreign, so this is only believed of a failure.
_SIGNS: tuple[tuple[LimitName, str], ...] = (
    ("processes", "can't start new thread"),  # or no room for its stack
    ("processes", "[Errno 11] Resource temporarily unavailable"),
    ("memory", "MemoryError"),
    ("memory", "[Errno 12] Cannot allocate memory"),
    ("file size", "[Errno 27] File too large"),
    ("open files", "[Errno 24] Too many open files"),
)
_SPACE: tuple[LimitName, ...] = ("disk", "inodes", "shared memory")
_SHARED = re.compile(r"\[Errno 28\] No space left on device: '/dev/shm|/psm_\w+")
_BY_ENDING: dict[Ending, LimitName] = {
    "timeout": "wall time",
    "cpu": "cpu",
    "output": "output",
    "processes": "processes",
}
_BY_SIGNAL: dict[int, LimitName] = {
    -signal.SIGXCPU: "cpu",
    -signal.SIGXFSZ: "file size",
}
_OUT_OF_MEMORY = re.compile(rb"\bMemoryError\b|Cannot allocate memory|out of memory", re.I)


def ended_by_itself(ended: Ended, closed: bool, failures: Sequence[Failure]) -> Ending:
    """How a run was that came to its end by itself, or by the kernel's hand.

    `closed`: the account of its tests came to its end.
    """
    broken_off = not closed or ended.status not in (0, 1)
    if not closed and ("cpu" in ended.hit or ended.status == -signal.SIGXCPU):
        return "cpu"
    if not closed and _lacked_memory(ended):
        return "memory"
    if not closed:
        return "processes" if "processes" in ended.hit else "crashed"
    if broken_off and any(item.exception == "MemoryError" for item in failures):
        return "memory"
    return "finished"


def limits_hit(
    ending: Ending, ended: Ended, closed: bool, failures: Sequence[Failure]
) -> tuple[LimitName, ...]:
    """Their names, in the order of `NAMES`."""
    told = "\n".join(f"{item.exception}: {item.message}" for item in failures)
    told += "" if closed else ended.output[-_LAST_BYTES:].decode("utf-8", "replace")
    found = {*_ending_tells(ending, ended), *ended.hit, *_text_tells(told)}
    if _NO_SPACE in told and not found & {*_SPACE}:
        found.add("shared memory" if _SHARED.search(told) else "disk")
    return tuple(name for name in NAMES if name in found)


def _ending_tells(ending: Ending, ended: Ended) -> Iterator[LimitName]:
    if ending in _BY_ENDING:
        yield _BY_ENDING[ending]
    if ending == "memory" and not {"memory", "total memory"} & {*ended.hit}:
        yield "memory"
    if ended.status in _BY_SIGNAL:
        yield _BY_SIGNAL[ended.status]


def _text_tells(told: str) -> Iterator[LimitName]:
    yield from (name for name, sign in _SIGNS if sign in told)


def _lacked_memory(ended: Ended) -> bool:
    seen = {"memory", "total memory"} & {*ended.hit}
    return bool(seen) or _OUT_OF_MEMORY.search(ended.output[-_LAST_BYTES:]) is not None
