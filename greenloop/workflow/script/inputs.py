"""The files that a script reads: the same as when its run began, and how prompts show them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from greenloop.errors import InputError
from greenloop.records import InputFile, ScriptJob
from greenloop.tools.script_toolkit import ScriptTask, ShownInput
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.storage.request import InputRef, RunRequest, ScriptRequest

CHANGE_REQUEST_HEADER = "The script exists already. Its owner asks for this besides:\n"
_MAX_HEAD_LINES, _MAX_LINE_CHARS, _MAX_HEAD_BYTES = 8, 160, 4096


def read_input(ref: InputRef) -> InputFile:
    """A file as it was when the run began.

    Raises:
        InputError: it cannot be read, or is another one by now.
    """
    try:
        content = Path(ref.source).read_bytes()
    except OSError as error:
        raise InputError(f"{ref.source} cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(content).hexdigest() != ref.sha256:
        raise InputError(f"{ref.source} has changed since this run began: begin a new one")
    return InputFile(path=ref.path, content=content)


def build_job(script: ScriptRequest) -> ScriptJob:
    """The job that each candidate is run as; its script is not in it yet. Raises InputError."""
    return ScriptJob(
        script="",
        timeout_s=None,
        name=script.name,
        arguments=script.arguments,
        stdin=read_input(script.stdin).content if script.stdin else b"",
        inputs=tuple(read_input(item) for item in script.inputs),
        allow_network=script.allow_network,
        keep=tuple(item.file for item in (*script.checks, *(script.agreed or ())) if item.file),
    )


def build_task(
    request: RunRequest, job: ScriptJob, checklist: Checklist, change_requests: Sequence[str] | None
) -> ScriptTask:
    """What prompts say of a script; one that is healed has `wishes` of its owner's in place of a
    task."""
    asked = "".join(f"- {item}\n" for item in change_requests or ())
    wished = f"{CHANGE_REQUEST_HEADER}{asked}" if asked else ""
    return ScriptTask(
        name=job.name,
        task=request.task if change_requests is None else wished,
        arguments=job.arguments,
        stdin=_read_head(job.stdin),
        inputs=[_to_shown_input(item) for item in job.inputs],
        checks=checklist.checks,
    )


def _to_shown_input(item: InputFile) -> ShownInput:
    head = _read_head(item.content)
    whole = head == item.content.decode("utf-8-sig", "replace").replace("\r\n", "\n").rstrip("\n")
    return ShownInput(item.path, len(item.content), head, whole)


def _read_head(content: bytes) -> str:
    """The first lines of a text, cut; '' of what is no text."""
    start = content[:_MAX_HEAD_BYTES]
    try:
        text = start.decode("utf-8-sig", "strict" if len(content) <= _MAX_HEAD_BYTES else "ignore")
    except UnicodeDecodeError:
        return ""
    if "\0" in text:
        return ""
    lines = [line[:_MAX_LINE_CHARS] for line in text.splitlines()[:_MAX_HEAD_LINES]]
    return "\n".join(lines).replace("```", "'''")
