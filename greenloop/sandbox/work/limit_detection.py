"""Detection of the limits that a run reached."""

import re
import signal
from collections.abc import Iterator, Sequence
from typing import get_args

from greenloop.records import Ending, Failure, LimitName
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult

LIMIT_NAMES: tuple[LimitName, ...] = get_args(LimitName)
_TAIL_BYTES = 4000
_NO_SPACE = "[Errno 28] No space left"
# Messages of Python about limits. They are searched only in failures and in the output of a run
# that broke off, because in passing tests untrusted code writes them.
_LIMIT_MESSAGES: tuple[tuple[LimitName, str], ...] = (
    ("processes", "can't start new thread"),  # or no memory for its stack
    ("processes", "[Errno 11] Resource temporarily unavailable"),
    ("memory", "MemoryError"),
    ("memory", "[Errno 12] Cannot allocate memory"),
    ("file size", "[Errno 27] File too large"),
    ("open files", "[Errno 24] Too many open files"),
)
_SPACE_LIMITS: tuple[LimitName, ...] = ("disk", "inodes", "shared memory")
_SHARED_MEMORY_PATTERN = re.compile(r"\[Errno 28\] No space left on device: '/dev/shm|/psm_\w+")
_BY_ENDING: dict[Ending, LimitName] = {
    "timeout": "wall time",
    "cpu": "cpu",
    "output": "output",
    "processes": "processes",
}
_BY_SIGNAL: dict[int, LimitName] = {-signal.SIGXCPU: "cpu", -signal.SIGXFSZ: "file size"}
_OUT_OF_MEMORY = re.compile(rb"\bMemoryError\b|Cannot allocate memory|out of memory", re.I)


def classify_ending(
    result: ProcessResult, is_complete: bool, failures: Sequence[Failure]
) -> Ending:
    """Return the ending of a run not ended by its supervisor (`is_complete`: the report is)."""
    if not is_complete:
        if "cpu" in result.limits_hit or result.status == -signal.SIGXCPU:
            return "cpu"
        if _is_out_of_memory(result):
            return "memory"
        return "processes" if "processes" in result.limits_hit else "crashed"
    is_broken = result.status not in (0, 1)
    if is_broken and any(item.exception == "MemoryError" for item in failures):
        return "memory"
    return "finished"


def detect_limits_hit(
    ending: Ending, result: ProcessResult, is_complete: bool, failures: Sequence[Failure]
) -> tuple[LimitName, ...]:
    """Return the limits that a run reached, in the order of `LIMIT_NAMES`."""
    text = "\n".join(f"{item.exception}: {item.message}" for item in failures)
    text += "" if is_complete else result.output[-_TAIL_BYTES:].decode("utf-8", "replace")
    in_text = (name for name, message in _LIMIT_MESSAGES if message in text)
    found = {*_limits_from_ending(ending, result), *result.limits_hit, *in_text}
    if _NO_SPACE in text and not found & {*_SPACE_LIMITS}:
        found.add("shared memory" if _SHARED_MEMORY_PATTERN.search(text) else "disk")
    return tuple(name for name in LIMIT_NAMES if name in found)


def _limits_from_ending(ending: Ending, result: ProcessResult) -> Iterator[LimitName]:
    if ending in _BY_ENDING:
        yield _BY_ENDING[ending]
    if ending == "memory" and not {"memory", "total memory"} & {*result.limits_hit}:
        yield "memory"
    if result.status in _BY_SIGNAL:
        yield _BY_SIGNAL[result.status]


def _is_out_of_memory(result: ProcessResult) -> bool:
    seen = {"memory", "total memory"} & {*result.limits_hit}
    return bool(seen) or _OUT_OF_MEMORY.search(result.output[-_TAIL_BYTES:]) is not None


def describe_incomplete(result: ProcessResult, limits: ResourceLimits) -> str:
    """Describe why the report of a process that ran programs is incomplete."""
    ending = classify_ending(result, False, ()) if result.ending == "finished" else result.ending
    exceeded = map(limits.describe_exceeded, detect_limits_hit(ending, result, False, ()))
    how = ", ".join([ending, f"status {result.status}", *exceeded])
    last = f": {result.last_line}" if result.last_line else ""
    return f"the programs were not completed ({how}){last}"
