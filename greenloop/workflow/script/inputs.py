"""Input files of a script, unchanged since its run began, and how prompts show them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from greenloop.errors import InputError
from greenloop.records import InputFile, ScriptJob
from greenloop.tools.script_toolkit import ScriptTask, ShownInput
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.script.request import InputRef, ScriptSpec

CHANGE_REQUEST_HEADER = "The script exists already. Its owner asks for this besides:\n"
_MAX_HEAD_LINES, _MAX_LINE_CHARS, _MAX_HEAD_BYTES = 8, 160, 4096


def read_input(ref: InputRef) -> InputFile:
    """Read a file. Raises InputError: it cannot be read, or was changed since the run began."""
    try:
        content = Path(ref.source).read_bytes()
    except OSError as error:
        raise InputError(f"{ref.source} cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(content).hexdigest() != ref.sha256:
        raise InputError(f"{ref.source} has changed since this run began; start a new run")
    return InputFile(path=ref.path, content=content)


def build_job(script: ScriptSpec) -> ScriptJob:
    """Return the sandbox job of a script, without its text. Raises InputError."""
    return ScriptJob(
        script="",
        timeout_s=None,
        name=script.name,
        arguments=script.arguments,
        stdin=read_input(script.stdin).content if script.stdin else b"",
        inputs=tuple(read_input(item) for item in script.inputs),
        keep=tuple(item.file for item in script.checks if item.file),
    )


def build_task(text: str, job: ScriptJob, checklist: Checklist) -> ScriptTask:
    """Return what prompts say about a script: its task, inputs, and checks."""
    return ScriptTask(
        name=job.name,
        task=text,
        arguments=job.arguments,
        stdin=_read_head(job.stdin),
        inputs=[_to_shown_input(item) for item in job.inputs],
        checks=checklist.checks,
    )


def describe_changes(change_requests: Sequence[str]) -> str:
    """Return the task of a script that exists: the changes that the user asked for, or ''."""
    if not change_requests:
        return ""
    return CHANGE_REQUEST_HEADER + "".join(f"- {item}\n" for item in change_requests)


def _to_shown_input(item: InputFile) -> ShownInput:
    head = _read_head(item.content)
    whole = head == item.content.decode("utf-8-sig", "replace").replace("\r\n", "\n").rstrip("\n")
    return ShownInput(item.path, len(item.content), head, whole)


def _read_head(content: bytes) -> str:
    """Return the first lines, truncated; '' if the content is not text."""
    start = content[:_MAX_HEAD_BYTES]
    try:
        text = start.decode("utf-8-sig", "strict" if len(content) <= _MAX_HEAD_BYTES else "ignore")
    except UnicodeDecodeError:
        return ""
    if "\0" in text:
        return ""
    lines = [line[:_MAX_LINE_CHARS] for line in text.splitlines()[:_MAX_HEAD_LINES]]
    return "\n".join(lines).replace("```", "'''")
