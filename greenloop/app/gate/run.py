"""Runs of the gate: from the stop of an agent to the answer that blocks it or lets it stop."""

import asyncio
from collections.abc import Sequence
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
    """An answer: `message` blocks the agent, `note` is for the user, `report` has the results.

    An answer is final unless something could not be measured, so that a repetition may find more.
    """

    message: str = ""
    note: str = ""
    report: Report | None = None
    is_final: bool = True


async def run_gate(
    request: GateRequest, settings: Settings, open_box: OpenSandbox, emit: EventSink
) -> GateAnswer:
    """Measure the change since the base, and answer; an unchanged change gets the stored answer.

    Problems that the agent cannot fix (no commit, no sandbox, a suite that cannot run) never block
    it; they are in the note for the user.
    """
    memory = _recall(request)
    try:
        change = read_change(request.root, request.base or memory.base)
    except GreenloopError as problem:
        return GateAnswer(note=f"the gate did not run: {problem}")
    digest = f"{change.digest} {request.time_s or ''}"
    if change.is_empty:
        answer = GateAnswer()
    elif digest == memory.digest:
        answer = GateAnswer(memory.message)
    else:
        answer = await _inspect(request, change, settings, open_box, emit)
    memory = memory.model_copy(update={"digest": digest if answer.is_final else ""})
    return _decide(request, memory, answer)


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
    late = [key for key, why in report.evidence.not_measured.items() if why == OUT_OF_TIME]
    if report.change and report.change.baseline.unfinished:
        late.append("earlier_tests")
    note = _describe(found, late, error)
    return GateAnswer(message, note, report, is_final=not (late or error))


def find_base(request: GateRequest) -> str:
    """Return the commit at which the piece of work began."""
    return request.base or _recall(request).base


def note_base(root: Path) -> None:
    """Store the commit of a folder as the base of the next piece of work."""
    if head := find_commit(root):
        file = find_memory_file(root)
        write_memory(file, read_memory(file).model_copy(update={"base": head}))


def _recall(request: GateRequest) -> Memory:
    """Return the stored state of the session, with the base of its work if that is new.

    A session keeps its base. An event that follows no block begins a new piece of work.
    """
    event = request.event
    memory = read_memory(find_memory_file(request.root, event.session))
    base = (event.session and memory.base) or _find_beginning(request)
    blocks = 0 if event.is_repeated is False else memory.blocks
    return memory.model_copy(update={"base": base, "blocks": blocks})


def _find_beginning(request: GateRequest) -> str:
    """Return the last commit before the session, as the agent may have committed since then.

    If the time of its beginning is not known, return the recorded base.
    """
    if began := request.event.began:
        arguments = ("rev-list", "-1", "--first-parent", f"--before={began}", "HEAD")
        with suppress(OutputError):
            if found := run_git(request.root, *arguments).strip():
                return found
    noted = read_memory(find_memory_file(request.root)).base
    if noted and is_ancestor(request.root, noted):
        return noted
    return find_commit(request.root) or "HEAD"


def _decide(request: GateRequest, memory: Memory, answer: GateAnswer) -> GateAnswer:
    """Store the answer, and block if there is something to fix and a try is left."""
    message, note = answer.message, answer.note
    blocks = memory.blocks + 1 if message else 0
    if message and memory.blocks >= request.tries:
        note = f"{message}\n(blocked {memory.blocks} times before; the agent may stop now)\n{note}"
        blocks = memory.blocks if request.event.is_repeated else 0
    file = find_memory_file(request.root, request.event.session)
    try:
        write_memory(file, memory.model_copy(update={"message": message, "blocks": blocks}))
        if not (message or request.base) and answer.is_final:
            note_base(request.root)  # the next piece of work begins here
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


def _describe(found: Findings, late: Sequence[str], error: GreenloopError | None) -> str:
    """Return the note for the user: changed expectations, and missing measurements."""
    lines = [f"please review: {item}" for item in found.for_person]
    if late:
        names = ", ".join(key.replace("_", " ") for key in late)
        lines.append(f"greenloop gate: not measured in time: {names}; --time S allows more")
    return "\n".join([*lines, f"greenloop gate: {error}"] if error else lines)
