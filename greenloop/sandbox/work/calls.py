"""What a module answered to calls, from what its process said."""

from __future__ import annotations

from typing import Any

from greenloop.sandbox.api import CallResults
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.result_decoder import decode_events


def build_call_results(
    result: ProcessResult, count: int, key: str, limits: ResourceLimits
) -> CallResults:
    """One event a call, the first that came for it; the numbers come from foreign code."""
    heard, whole = decode_events(result.channel_data, key)
    answers: dict[int, dict[str, Any]] = {}
    for item in heard:
        number = item.get("call")
        if item.get("event") == "answer" and type(number) is int:
            answers.setdefault(number, item)
    closed = whole and bool(heard) and heard[-1].get("event") == "end"
    trouble = "" if result.ending == "finished" and closed else _describe_failure(result, limits)
    return CallResults(tuple(answers.get(number) for number in range(count)), trouble)


def _describe_failure(result: ProcessResult, limits: ResourceLimits) -> str:
    ending = classify_ending(result, False, ()) if result.ending == "finished" else result.ending
    exceeded = [
        limits.describe_exceeded(name) for name in detect_limits_hit(ending, result, False, ())
    ]
    how = ", ".join([ending, f"status {result.status}", *exceeded])
    last = result.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    said = f": {last[:300]}" if last else ""
    return f"the calls did not come to an end ({how}){said}"
