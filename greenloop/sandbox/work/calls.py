"""Calls of a module's functions, evaluated in a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from greenloop.sandbox.api import CallResults, JobRunner
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.result_decoder import decode_report


def evaluate_calls(
    sandbox: JobRunner,
    code: str,
    module: str,
    calls: Sequence[str],
    *,
    timeout_s: float | None = None,
) -> CallResults:
    """Evaluate call expressions over the names of a module; values are returned tagged.

    `timeout_s` limits all calls together. Raises SandboxError where no process can be started.
    """
    payload = {"module": module, "calls": list(calls)}
    files = ((f"{module}.py", code),)
    job = Job("calls", files, payload, packages=sandbox.packages, timeout_s=timeout_s)
    result = sandbox.run(job)
    events, is_complete = decode_report(result, job.key)
    answers: dict[int, dict[str, Any]] = {}
    for event in events:
        number = event.get("call")
        if event.get("event") == "answer" and type(number) is int:
            answers.setdefault(number, event)
    error = "" if is_complete else _describe_failure(result, sandbox.limits)
    return CallResults(tuple(answers.get(number) for number in range(len(calls))), error)


def _describe_failure(result: ProcessResult, limits: ResourceLimits) -> str:
    ending = classify_ending(result, False, ()) if result.ending == "finished" else result.ending
    exceeded = map(limits.describe_exceeded, detect_limits_hit(ending, result, False, ()))
    how = ", ".join([ending, f"status {result.status}", *exceeded])
    last = f": {result.last_line}" if result.last_line else ""
    return f"the calls were not completed ({how}){last}"
