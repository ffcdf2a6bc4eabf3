"""What a module answered to calls, from what its process said."""

from __future__ import annotations

from typing import Any

from greenloop.sandbox.api import Answers
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.work.limit_detection import ended_by_itself, limits_hit
from greenloop.sandbox.work.result_decoder import events


def answers_of(ended: Ended, count: int, key: str, limits: Limits) -> Answers:
    """One event a call, the first that came for it; the numbers come from foreign code."""
    heard, whole = events(ended.result, key)
    answers: dict[int, dict[str, Any]] = {}
    for item in heard:
        number = item.get("call")
        if item.get("event") == "answer" and type(number) is int:
            answers.setdefault(number, item)
    closed = whole and bool(heard) and heard[-1].get("event") == "end"
    trouble = "" if ended.ending == "finished" and closed else _trouble(ended, limits)
    return Answers(tuple(answers.get(number) for number in range(count)), trouble)


def _trouble(ended: Ended, limits: Limits) -> str:
    ending = ended_by_itself(ended, False, ()) if ended.ending == "finished" else ended.ending
    exceeded = [limits.exceeded(name) for name in limits_hit(ending, ended, False, ())]
    how = ", ".join([ending, f"status {ended.status}", *exceeded])
    last = ended.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    said = f": {last[:300]}" if last else ""
    return f"the calls did not come to an end ({how}){said}"
