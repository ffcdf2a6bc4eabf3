"""Trials of edits: tests that are collected once, and run on each edit in a fork.

A lane is one sandbox process, which tries its edits one at a time. Several lanes share the edits
only if each sandbox process has its own network and files: so trials never conflict, whichever
ports and files their tests use.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import stretch
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.result_decoder import decode_report
from greenloop.sandbox.work.trials.runs import ModuleEdit, MutantOutcome, MutantRun, MutantRuns
from greenloop.testsuite import TestFile

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox

_WALL_FACTOR, _MIN_WALL_SECONDS = 4.0, 5.0  # limit for trials that wait
_MARGIN_SECONDS = 20.0  # for the start, and for ending what is still running
_MAX_LANES, _MAX_RUNS, _MIN_SECONDS = 4, 20, 0.5
_OUTCOMES: tuple[MutantOutcome, ...] = get_args(MutantOutcome)
_NO_LIMIT_SECONDS = 1e9

# Takes numbers of edits and CPU seconds; returns the result and the key of the report.
TrialRunner = Callable[[Sequence[int], float], tuple[ProcessResult, str]]


@dataclass(frozen=True)
class TrialJob:
    """Module, tests and further options of trials (see `guest.entrypoints.trials`)."""

    kind: str
    code: str
    tests: Sequence[TestFile]
    module: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self, sandbox: "Sandbox", edits: Sequence[dict[str, Any]], budget_s: float) -> Job:
        """Return the job for some edits."""
        placed = sandbox.place_trial(self.module, self.code, self.tests)
        wall_s = stretch(_WALL_FACTOR * budget_s + _MIN_WALL_SECONDS)
        payload = {
            "is_red": False,
            "tests": [],
            "max_test_s": _NO_LIMIT_SECONDS,
            "max_collect_s": _NO_LIMIT_SECONDS,
            "budget_s": budget_s,
            "wall_s": wall_s,
            "edits": edits,
            **placed.payload,
            **self.options,
        }
        return Job(
            self.kind,
            placed.files,
            payload,
            packages=sandbox.packages,
            timeout_s=1.5 * wall_s + _MARGIN_SECONDS,  # the guest ends before that
            tree=placed.tree,
            items=len(edits),
        )


def run_trials(
    sandbox: "Sandbox",
    job: TrialJob,
    edits: Sequence[ModuleEdit],
    budget_s: float,
    scores: Sequence[float] = (),
    lanes: int | None = None,
) -> MutantRuns:
    """Run the tests of a job on edits, for at most `budget_s` CPU seconds in each lane.

    Raises SandboxError if no process can be started.
    """
    started = time.monotonic()

    def run(numbers: Sequence[int], left_s: float) -> tuple[ProcessResult, str]:
        some = [{"number": number, **asdict(edits[number])} for number in numbers]
        for item in some if scores else ():
            item["score"] = scores[item["number"]]
        built = job.build(sandbox, some, left_s)
        return sandbox.run(built), built.key

    lanes = min(lanes or count_lanes(sandbox), max(1, len(edits)))
    parts = [range(len(edits))[lane::lanes] for lane in range(lanes)]
    take = partial(run_lane, run, budget_s=budget_s)
    if lanes == 1:
        found = [take(parts[0])]
    else:
        with ThreadPoolExecutor(lanes) as pool:
            found = list(pool.map(take, parts))
    known = {number: item for lane in found for number, item in lane.known.items()}
    runs = tuple(known.get(number, MutantRun("not_run")) for number in range(len(edits)))
    error = next((lane.error for lane in found if lane.error), "")
    return MutantRuns(runs, error, time.monotonic() - started, sum(lane.cpu_s for lane in found))


def count_lanes(sandbox: "Sandbox") -> int:
    """Return how many processes of a sandbox may try edits of one module concurrently."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(_MAX_LANES, cores) if sandbox.has_separate_runs else 1


@dataclass
class Lane:
    """Outcomes of some edits; `error` says why not all were tried ('' if all were)."""

    known: dict[int, MutantRun] = field(default_factory=dict)
    error: str = ""
    cpu_s: float = 0.0


def run_lane(run: TrialRunner, numbers: Sequence[int], budget_s: float) -> Lane:
    """Run until each edit has an outcome, or `budget_s` CPU seconds are used up.

    An edit may end the whole run (`kill(-1)`, all memory used). It is tried first in the next run,
    and counts as crashed if that run breaks off too.
    """
    lane, waiting, suspect = Lane(), list(numbers), None
    for _ in range(_MAX_RUNS):
        left_s = budget_s - lane.cpu_s
        if not waiting or left_s < _MIN_SECONDS:
            break
        result, key = run(waiting, left_s)
        events, is_complete = decode_report(result, key)
        begun = _read_events(events, set(waiting), lane)
        lane.cpu_s += read_cpu_seconds(result, events)
        waiting = [number for number in waiting if number not in lane.known]
        lane.error = describe_error(result, events, is_complete)
        if is_complete or begun is None or result.ending in ("interrupted", "timeout"):
            break
        waiting.remove(begun)
        if begun == suspect:
            lane.known[begun], lane.error = MutantRun("crashed"), ""
        else:
            suspect, waiting = begun, [begun, *waiting]
    return lane


def _read_events(events: Sequence[dict[str, Any]], wanted: set[int], lane: Lane) -> int | None:
    """Record outcomes; return the edit that was begun last, if it has none."""
    begun: int | None = None
    for event in events:
        number = event.get("mutant")
        if type(number) is int and number in wanted:
            if event.get("event") == "started":
                begun = number
            elif event.get("event") == "mutant":
                lane.known.setdefault(number, _parse_run(event))
    return None if begun in lane.known else begun


def _parse_run(event: dict[str, Any]) -> MutantRun:
    """Parse an outcome; an unknown one, which untrusted code may send, becomes `error`."""
    outcome: MutantOutcome = next(
        (item for item in _OUTCOMES if item == event.get("outcome")), "error"
    )
    test = event.get("test", "")
    return MutantRun(outcome, test[:500] if isinstance(test, str) else "")


def read_cpu_seconds(result: ProcessResult, events: Sequence[dict[str, Any]]) -> float:
    """Return the CPU time of a run; its elapsed time if it was not completed."""
    ends = [item.get("cpu_s") for item in events if item.get("event") == "end"]
    value = ends[-1] if ends else None
    is_known = isinstance(value, (int, float)) and 0 <= value < 1e6
    return float(value or 0) if is_known else result.duration_s


def describe_error(
    result: ProcessResult, events: Sequence[dict[str, Any]], is_complete: bool
) -> str:
    """Return why a run did not try all of its edits ('' if it did)."""
    errors = [item.get("what") for item in events if item.get("event") == "trouble"]
    if errors:
        return str(errors[-1])[:300]
    if is_complete:
        return ""
    output = f": {result.last_line}" if result.last_line else ""
    return f"the run of the trials broke off ({result.ending}, status {result.status}){output}"
