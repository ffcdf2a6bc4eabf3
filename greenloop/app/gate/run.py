"""One answer to an agent that stops: pass, or what to mend."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.app.check import CheckResult, OpenSandbox
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.diff_tests import find_weakened
from greenloop.app.gate.events import StopEvent
from greenloop.app.gate.findings import (
    Findings,
    collect_findings,
)
from greenloop.app.gate.memory import Memory, find_memory_file, read_memory, write_memory
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.events import EventSink
from greenloop.files import read_text
from greenloop.project.diff import ProjectDiff, read_diff
from greenloop.project.git import find_commit, list_safe_options, run_git
from greenloop.project.grading.grader import OUT_OF_TIME
from greenloop.project.tree import list_files
from greenloop.project.weakening.configuration import (
    find_loosened_configuration,
    is_deciding_file,
)
from greenloop.records import Report
from greenloop.settings import Settings

_MAX_CONFIGURATION_BYTES = 1_000_000
_GRACE_S = 5.0  # for the piece that is measured when the time is over


@dataclass(frozen=True)
class GateRequest:
    """What is asked: `time_s` bounds the measurement, `tries` the blocks for one piece of work."""

    root: Path
    base: str = ""
    time_s: float = 60.0
    tries: int = 2
    event: StopEvent = field(default_factory=StopEvent)


@dataclass(frozen=True)
class GateAnswer:
    """A `message` blocks the agent; `note` is for the person; the report is of what was measured."""

    message: str = ""
    note: str = ""
    report: Report | None = None


@dataclass(frozen=True)
class _Change:
    """What differs from the base: code, and the files that decide which tests count."""

    diff: ProjectDiff
    loosened: tuple[str, ...]
    digest: str

    @property
    def is_empty(self) -> bool:
        return not self.diff.before and not self.loosened


async def run_gate(
    request: GateRequest, settings: Settings, open_box: OpenSandbox, emit: EventSink
) -> GateAnswer:
    """Measure the change since the base, and answer; the same change gets the same answer at once.

    What the agent cannot mend (no commit, no sandbox, a suite that cannot run) never blocks it: the note
    says it to the person.
    """
    file = find_memory_file(request.root)
    memory = _recall(request, read_memory(file))
    try:
        change = _read_change(request.root, memory.base)
    except GreenloopError as problem:
        return GateAnswer(note=f"greenloop gate did not run: {problem}")
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
    """Measure the change since the base, and say what it lacks; nothing is remembered.

    Raises:
        InputError: there is no repository or no such commit.
        OutputError: git failed.
    """
    change = _read_change(request.root, request.base or "HEAD")
    if change.is_empty:
        return GateAnswer()
    return await _inspect(request, change, settings, open_box, emit)


async def _inspect(
    request: GateRequest,
    change: _Change,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
) -> GateAnswer:
    diff = change.diff
    report, error = await _measure(request, diff, settings, open_box, emit)
    found = collect_findings(
        change.loosened,
        find_weakened(diff),
        None if error else report,
        diff,
        _list_changed_paths(diff),
        said=request.event.said,
    )
    message = found.format_message() if found.blocking else ""
    return GateAnswer(message, _describe(found, report, error), report)


def _recall(request: GateRequest, memory: Memory) -> Memory:
    """Return what is remembered of this piece of work; a new one begins at the current commit."""
    is_same = request.event.is_repeated or (
        memory.session == request.event.session and bool(memory.base)
    )
    head = find_commit(request.root)
    base = request.base or (memory.base if is_same and memory.base else head) or "HEAD"
    blocks = memory.blocks if request.event.is_repeated or not request.event.session else 0
    kept = memory if is_same and memory.base == base else Memory()
    return kept.model_copy(
        update={"session": request.event.session, "base": base, "blocks": blocks}
    )


def _decide(
    request: GateRequest, memory: Memory, file: Path, message: str, answer: GateAnswer
) -> GateAnswer:
    """Block where there is something to mend and a try is left; remember the answer."""
    blocks = memory.blocks + 1 if message else 0
    note = answer.note
    if message and memory.blocks >= request.tries:
        note = f"{message}\n(shown {memory.blocks} times before; the agent may stop now)\n{note}"
        blocks = 0
    try:
        write_memory(file, memory.model_copy(update={"message": message, "blocks": blocks}))
    except (OutputError, OSError) as error:
        note = f"{note}\nthe gate cannot remember its answer, and does not block: {error}"
        return replace(answer, message="", note=f"{message}\n{note}".strip())
    is_blocked = bool(message) and memory.blocks < request.tries
    return replace(answer, message=message if is_blocked else "", note=note.strip())


def _read_change(root: Path, base: str) -> _Change:
    """Read the change of a project since a commit. Raises InputError, OutputError."""
    diff = read_diff(root, base)
    before, after = _read_configuration(diff)
    loosened = tuple(find_loosened_configuration(before, after))
    return _Change(diff, loosened, _digest(diff, after))


def _read_configuration(diff: ProjectDiff) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files that decide which tests count, at the base and now."""
    root = Path(diff.tree.root)
    listed = run_git(root, "ls-tree", "-r", "-z", "--name-only", diff.commit).split("\0")
    old = [path for path in listed if path and is_deciding_file(path)]
    new = sorted(filter(is_deciding_file, list_files(root) or ()))
    before = {path: run_git(root, "show", f"{diff.commit}:./{path}") for path in old}
    return before, dict(_read_files(root, new))


def _read_files(root: Path, paths: list[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        file = root / path
        if file.is_file() and file.stat().st_size <= _MAX_CONFIGURATION_BYTES:
            yield path, read_text(file)


def _list_changed_paths(diff: ProjectDiff) -> list[str]:
    """Return the paths of all files that differ from the base, new ones included."""
    root = Path(diff.tree.root)
    options = list_safe_options(root)
    changed = run_git(root, "diff", "--name-only", "-z", diff.commit, options=options)
    new = run_git(root, "ls-files", "-z", "--others", "--exclude-standard")
    return [path for path in f"{changed}\0{new}".split("\0") if path]


def _digest(diff: ProjectDiff, configuration: dict[str, str]) -> str:
    found = hashlib.sha256(f"{diff.commit} {diff.tree.sha256}".encode())
    for path, text in sorted(configuration.items()):
        found.update(f"{path} {len(text)} {text}".encode("utf-8", "replace"))
    return found.hexdigest()


async def _measure(
    request: GateRequest,
    diff: ProjectDiff,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
) -> CheckResult:
    """Grade the changed lines; what is not measured when the time is over is missing."""
    directory = create_diff_directory(settings, diff, None)
    measured = check_diff(diff, directory, settings, open_box, emit, time_s=request.time_s)
    work = asyncio.ensure_future(measured)
    try:
        done, _ = await asyncio.wait({work}, timeout=request.time_s + _GRACE_S)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
        raise
    if done:
        return work.result()
    work.cancel()
    report, _ = await work
    late = InputError(f"not everything was measured within {request.time_s:g} s (--time)")
    return report, late


def _describe(found: Findings, report: Report, error: GreenloopError | None) -> str:
    """Return what is said to the person: changed expectations, and what was not measured."""
    lines = [f"expected values that the change alters: {item}" for item in found.for_person]
    late = [key for key, why in report.evidence.not_measured.items() if why == OUT_OF_TIME]
    if late:
        names = ", ".join(key.replace("_", " ") for key in late)
        lines.append(f"greenloop gate: not measured, because the time was over (--time): {names}")
    return "\n".join([*lines, f"greenloop gate: {error}"] if error else lines)
