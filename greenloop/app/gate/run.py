"""Runs of the gate: from the stop of an agent to the answer that blocks it or lets it stop."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from greenloop.app.check import CheckResult, OpenSandbox
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.diff_tests import find_weakened
from greenloop.app.gate.change import GateChange, read_change
from greenloop.app.gate.events import StopEvent
from greenloop.app.gate.findings import Findings, collect_findings
from greenloop.app.gate.memory import Memory, find_memory_file, read_memory, write_memory
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.events import EventSink
from greenloop.project.diff import ProjectDiff
from greenloop.project.git import find_commit, is_ancestor, run_git
from greenloop.project.grading.grader import OUT_OF_TIME
from greenloop.records import Report
from greenloop.sandbox.limits import stretch
from greenloop.settings import Settings
from greenloop.syntax.parse import call_again_after_race
from greenloop.threads import run_in_thread

_GRACE_S = 5.0  # for the measurement that runs when the time is over
# The default time limit, which a busy machine stretches: the hooks of agents end after 300 seconds.
_TIME_S, _MAX_STRETCHED_S = 60.0, 240.0


@dataclass(frozen=True)
class GateRequest:
    """A call of the gate: `time_s` limits the measurement, `tries` the blocks per piece of work."""

    root: Path
    base: str = ""
    time_s: float | None = None
    tries: int = 2
    event: StopEvent = field(default_factory=StopEvent)

    def limit_time(self) -> float:
        """Return the time limit in seconds; by default a minute, or more on a busy machine."""
        return self.time_s or min(stretch(_TIME_S), _MAX_STRETCHED_S)


@dataclass(frozen=True)
class GateAnswer:
    """An answer: `message` blocks the agent, `note` is for the user, `report` has the results."""

    message: str = ""
    note: str = ""
    report: Report | None = None


async def run_gate(
    request: GateRequest, settings: Settings, open_box: OpenSandbox, emit: EventSink
) -> GateAnswer:
    """Measure the change since the base, and answer; an unchanged change gets the stored answer.

    Problems that the agent cannot fix (no commit, no sandbox, a suite that cannot run) never block
    it; they are in the note for the user.
    """
    file = find_memory_file(request.root)
    memory = _recall(request, read_memory(file))
    try:
        change = read_change(request.root, memory.base)
    except GreenloopError as problem:
        return GateAnswer(note=f"the gate did not run: {problem}")
    if change.is_empty:
        return GateAnswer()
    if change.digest == memory.digest:
        return _decide(request, memory, file, memory.message, GateAnswer())
    answer = await _inspect(request, change, settings, open_box, emit)
    memory = memory.model_copy(update={"digest": change.digest})
    return _decide(request, memory, file, answer.message, answer)


async def inspect_changes(
    request: GateRequest, settings: Settings, open_box: OpenSandbox, emit: EventSink
) -> GateAnswer:
    """Measure the change since the base, and return the findings without storing them.

    Raises:
        InputError: there is no repository or no such commit.
        OutputError: git failed.
    """
    change = read_change(request.root, find_base(request))
    if change.is_empty:
        return GateAnswer()
    return await _inspect(request, change, settings, open_box, emit)


async def _inspect(
    request: GateRequest,
    change: GateChange,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
) -> GateAnswer:
    diff = change.diff
    reading = partial(call_again_after_race, partial(find_weakened, diff))
    weakened = asyncio.ensure_future(run_in_thread(reading))
    report, error = await _measure(request, diff, settings, open_box, emit)
    found = collect_findings(
        change.loosened,
        await weakened,
        report.model_copy(update={"reasons": ()}) if error else report,
        diff,
        change.list_document_lines(),
        said=request.event.said,
    )
    message = found.format_message() if found.blocking else ""
    return GateAnswer(message, _describe(found, report, error), report)


def find_base(request: GateRequest) -> str:
    """Return the commit at which the piece of work began."""
    return _recall(request, read_memory(find_memory_file(request.root))).base


def note_base(root: Path) -> None:
    """Store the commit of a folder as the base of the next piece of work."""
    if head := find_commit(root):
        write_memory(find_memory_file(root), Memory(base=head))


def _recall(request: GateRequest, memory: Memory) -> Memory:
    """Return the stored state of this piece of work, or the state of a new one."""
    event = request.event
    is_same = event.is_repeated or (memory.session == event.session and bool(memory.base))
    if not event.session and not is_ancestor(request.root, memory.base):
        is_same = False
    base = request.base or (memory.base if is_same else "") or _find_beginning(request)
    is_new = memory.session != event.session if event.is_repeated is None else not event.is_repeated
    blocks = 0 if event.session and is_new else memory.blocks
    kept = memory if is_same and memory.base == base else Memory()
    return kept.model_copy(update={"session": event.session, "base": base, "blocks": blocks})


def _find_beginning(request: GateRequest) -> str:
    """Return the last commit before the session, as the agent may have committed since then."""
    if began := request.event.began:
        arguments = ("rev-list", "-1", "--first-parent", f"--before={began}", "HEAD")
        with suppress(OutputError):
            if found := run_git(request.root, *arguments).strip():
                return found
    return find_commit(request.root) or "HEAD"


def _decide(
    request: GateRequest, memory: Memory, file: Path, message: str, answer: GateAnswer
) -> GateAnswer:
    """Store the answer, and block if there is something to fix and a try is left."""
    blocks = memory.blocks + 1 if message else 0
    note = answer.note
    if not message and not request.event.session:  # the next piece of work begins here
        memory = memory.model_copy(update={"base": find_commit(request.root) or memory.base})
    if message and memory.blocks >= request.tries:
        note = f"{message}\n(shown {memory.blocks} times before; the agent may stop now)\n{note}"
        blocks = memory.blocks if request.event.is_repeated else 0
    try:
        write_memory(file, memory.model_copy(update={"message": message, "blocks": blocks}))
    except (OutputError, OSError) as error:
        note = f"{note}\nthe gate does not block, because its answer cannot be stored: {error}"
        return replace(answer, message="", note=f"{message}\n{note}".strip())
    is_blocked = bool(message) and memory.blocks < request.tries
    return replace(answer, message=message if is_blocked else "", note=note.strip())


async def _measure(
    request: GateRequest,
    diff: ProjectDiff,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
) -> CheckResult:
    """Grade the changed lines within the time limit; return an error if it was too short."""
    directory = create_diff_directory(settings, diff, None)
    time_s = request.limit_time()
    measured = check_diff(diff, directory, settings, open_box, emit, time_s=time_s)
    work = asyncio.ensure_future(measured)
    try:
        done, _ = await asyncio.wait({work}, timeout=time_s + _GRACE_S)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
        raise
    if done:
        return work.result()
    work.cancel()
    report, _ = await work
    late = InputError(f"not everything was measured within {time_s:.0f} s; --time S allows more")
    return report, late


def _describe(found: Findings, report: Report, error: GreenloopError | None) -> str:
    """Return the note for the user: changed expectations, and missing measurements."""
    lines = [f"please review: {item}" for item in found.for_person]
    late = [key for key, why in report.evidence.not_measured.items() if why == OUT_OF_TIME]
    if late:
        names = ", ".join(key.replace("_", " ") for key in late)
        lines.append(f"greenloop gate: not measured in time: {names}; --time S allows more")
    return "\n".join([*lines, f"greenloop gate: {error}"] if error else lines)
