"""Mutants in a sandbox: what is asked of it, and what is believed of what it says.

A mutant's verdict comes out of a process in which its own foreign code ran. It is a claim: see
`greenloop.grading.mutation.evidence` for what that is worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.result_decoder import decode_events
from greenloop.syntax.edit import TextEdit

MARGIN_SECONDS = 20.0  # for the start, and for ending what is still running
_MAX_RUNS, _MAX_SINGLE_RUNS = 4, 8
_MIN_SECONDS = 0.5

MutantOutcome = Literal["killed", "survived", "uncovered", "timeout", "crashed", "error", "not_run"]
_OUTCOMES: tuple[MutantOutcome, ...] = (
    "killed",
    "survived",
    "uncovered",
    "timeout",
    "crashed",
    "error",
    "not_run",
)


@dataclass(frozen=True)
class ModuleEdit(TextEdit):
    """An edit of a module, and what is compiled and tested for it.

    `unit` is the piece of the module that is compiled for it: its start and end in characters, its
    first line, and the name of the class whose member it is ('' for none). `lines` are the first
    and the last of the statement that it changes: tests that reach none of them are not run.
    """

    unit: tuple[int, int, int, str]
    lines: tuple[int, int]


@dataclass(frozen=True)
class MutantRun:
    """How one mutant ended, and at which test ('' where at none).

    `killed`: a test failed. `crashed`: its process ended in the middle of a test. `timeout`: it
    used far more time for a test than the module itself. `uncovered`: no test reaches it, so none
    was run. `error`: it could not be tried. `not_run`: the time was over.
    """

    outcome: MutantOutcome
    test: str = ""


@dataclass(frozen=True)
class MutantRuns:
    """One per splice, in their order. `trouble` says why not all could be tried ('' if all).

    `seconds` is the time that it took, `cpu_s` what all its processes used of the processor.
    """

    runs: tuple[MutantRun, ...]
    error: str = ""
    seconds: float = 0.0
    cpu_s: float = 0.0


# Numbers of mutants, seconds, and whether many may share a process.
MutantRunner = Callable[[Sequence[int], float, bool], tuple[ProcessResult, str]]


def run_all_mutants(edits: Sequence[ModuleEdit], run: MutantRunner, budget_s: float) -> MutantRuns:
    """Runs until each mutant has an outcome, or the time is over.

    A mutant may take the whole run with it (`kill(-1)`, all the memory). From then on each has a
    process of its own. Those that are being tried when that breaks off are set aside, and tried
    alone after the rest: a run that breaks off with one mutant alone was broken by that one.
    """
    started = time.monotonic()
    state = _MutantProgress(len(edits), started + budget_s)
    for _ in range(_MAX_RUNS):
        state.run_batch(run, state.pending())
        if not state.is_broken or state.is_aborted:
            break
    if not state.is_aborted:
        for number in sorted(state.suspects)[:_MAX_SINGLE_RUNS]:
            state.run_single(run, number)
    runs = tuple(state.outcome(number) for number in range(len(edits)))
    return MutantRuns(runs, state.error, time.monotonic() - started, state.cpu_s)


class _MutantProgress:
    """What is known of the mutants so far."""

    def __init__(self, count: int, deadline: float) -> None:
        self._count, self._deadline = count, deadline
        self._known: dict[int, MutantRun] = {}
        self.suspects: set[int] = set()
        self.error, self.cpu_s = "", 0.0
        self.is_broken = self.is_aborted = False
        self._is_shared = True

    def pending(self) -> list[int]:
        return [n for n in range(self._count) if n not in self._known and n not in self.suspects]

    def outcome(self, number: int) -> MutantRun:
        return self._known.get(number, MutantRun("not_run"))

    def run_batch(self, run: MutantRunner, numbers: Sequence[int]) -> None:
        left_s = self._deadline - time.monotonic()
        self.is_broken = False
        if not numbers or left_s < _MIN_SECONDS:
            return
        ended, key = run(numbers, left_s, self._is_shared)
        found, whole = decode_events(ended.channel_data, key)
        begun = self._read_events(found, set(numbers))
        last = found[-1] if found else {}
        self.is_broken = not (whole and ended.ending == "finished" and last.get("event") == "end")
        if self.is_broken:
            if self._is_shared:
                self._is_shared = False
            else:
                self.suspects |= begun
            self.is_aborted = not begun or ended.ending in ("interrupted", "timeout")
            self.error = _describe_error(ended, found)
        elif any(item.get("event") == "trouble" for item in found):
            self.is_aborted, self.error = True, _describe_error(ended, found)
        else:
            self.error = ""
            self.cpu_s += _parse_seconds(last.get("cpu_s"))

    def run_single(self, run: MutantRunner, number: int) -> None:
        self.run_batch(run, [number])
        if self.is_broken and not self.is_aborted:
            self._known[number] = MutantRun("crashed")
            self.error = ""

    def _read_events(self, found: Sequence[dict[str, Any]], requested: set[int]) -> set[int]:
        """Takes in what was said; which mutants were begun and have no outcome."""
        begun: set[int] = set()
        for event in found:
            number = event.get("mutant")
            if type(number) is not int or number not in requested:
                continue
            if event.get("event") == "started":
                begun.add(number)
            elif event.get("event") == "mutant":
                self._known.setdefault(number, _parse_run(event))
        return {number for number in begun if number not in self._known}


def to_payload(edits: Sequence[ModuleEdit], numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Some of the splices as the inside reads them, each with its number among all."""
    return [{"number": number, **asdict(edits[number])} for number in numbers]


def _parse_run(event: dict[str, Any]) -> MutantRun:
    """What foreign code may have made up ends as an error, not as a verdict."""
    said = event.get("outcome")
    outcome: MutantOutcome = next((item for item in _OUTCOMES if item == said), "error")
    test = event.get("test", "")
    return MutantRun(outcome, test[:500] if isinstance(test, str) else "")


def _parse_seconds(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e6 else 0.0


def _describe_error(result: ProcessResult, found: Sequence[dict[str, Any]]) -> str:
    told = [item.get("what") for item in found if item.get("event") == "trouble"]
    if told:
        return str(told[-1])[:300]
    last = result.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    said = f": {last[:300]}" if last else ""
    return f"the run of the mutants broke off ({result.ending}, status {result.status}){said}"
