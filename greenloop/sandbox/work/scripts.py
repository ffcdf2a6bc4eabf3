"""From a script's job to work for a process, and from its end to a ScriptRun."""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Iterator
from typing import Any

from greenloop.dependencies import Installed
from greenloop.records import Ending, Failure, MadeFile, ScriptError, ScriptJob, ScriptRun
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.network.allowlist import Rule
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.work.file_layout import check_layout
from greenloop.sandbox.work.limit_detection import ended_by_itself, limits_hit
from greenloop.sandbox.work.result_decoder import death, events
from greenloop.sandbox.work.stack_dump import frames

KEPT_BYTES = 1 << 20  # of standard output and of errors each: it is what a script is run for


def script_work(job: ScriptJob, limits: Limits, packages: Installed) -> Work:
    """Raises InputError where it cannot be laid out."""
    source = encoded(job.script)
    tree = ((job.name, source), *((item.path, item.content) for item in job.inputs))
    check_layout(tree, limits, len(job.stdin))
    inputs = {path: (len(content), hashlib.sha256(content).hexdigest()) for path, content in tree}
    return Work(
        "script",
        (),
        {"name": job.name, "arguments": list(job.arguments)},
        packages=packages,
        timeout_s=job.timeout_s,
        tree=tree,
        stdin=job.stdin,
        wanted={"inputs": inputs, "keep": list(job.keep)},
        hosts=tuple(Rule.read(text) for text in job.allow_network),
    )


def encoded(script: str | bytes) -> bytes:
    """A script's text in the encoding that it declares, as far as that has what is in it."""
    if isinstance(script, bytes):
        return script
    data = script.encode("utf-8", "surrogatepass")
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data if declared.startswith("utf-8") else script.encode(declared)
    except (SyntaxError, LookupError, ValueError):
        return data  # Python will say what is wrong with it


def script_run(ended: Ended, work: Work, limits: Limits) -> ScriptRun:
    """The run as it was reported; of what foreign code may have sent, only what has its form."""
    error = _error(ended, work.key)
    told = [_as_failure(error)] if error else []
    ending = _ending(ended, told)
    hit = limits_hit(ending, ended, True, told)
    texts = {path: content.decode("utf-8", "replace") for path, content in work.tree}
    left = ended.left
    account = left.account or {"files": [], "left_out": [], "changed": []}
    return ScriptRun(
        ending=ending,
        detail=_detail(ending, ended.status, [limits.exceeded(name) for name in hit]),
        exit_status=ended.status,
        stdout=ended.output.decode("utf-8", "replace"),
        stdout_cut="output" in left.cut,
        stderr=left.errors.decode("utf-8", "replace"),
        stderr_cut="errors" in left.cut,
        made=tuple(_made(account["files"], left.contents)),
        left_out=tuple(f"{item['path']}: {item['why']}" for item in account["left_out"]),
        changed_inputs=tuple(account["changed"]),
        error=error,
        network=left.network,
        where=frames(ended.where, texts) if ending == "timeout" else (),
        limits_hit=hit,
        duration_s=ended.duration_s,
    )


def _error(ended: Ended, key: str) -> ScriptError | None:
    """The last account of it that has its form; see `inside.telling`."""
    heard, _ = events(ended.result, key)
    for event in reversed(heard):
        if event.pop("event", None) == "error":
            try:
                return ScriptError.model_validate(event)
            except ValueError:
                continue
    return None


def _as_failure(error: ScriptError) -> Failure:
    return Failure(test="", phase="call", exception=error.exception, message=error.message)


def _ending(ended: Ended, told: list[Failure]) -> Ending:
    if ended.ending != "finished":
        return ended.ending
    if ended.status >= 0:
        out_of_memory = any(item.exception == "MemoryError" for item in told)
        return "memory" if out_of_memory else "finished"
    return ended_by_itself(ended, False, told)


def _detail(ending: Ending, status: int, exceeded: list[str]) -> str:
    reached = ", ".join(exceeded)
    if ending == "crashed":
        return death(status) + (f"; reached a limit: {reached}" if reached else "")
    if ending == "finished":
        return f"reached a limit: {reached}" if reached else ""
    return reached


def _made(files: list[dict[str, Any]], contents: bytes) -> Iterator[MadeFile]:
    """Each with its part of the contents, which lie one after the other."""
    start = 0
    for item in files:
        end = start + item["size"] if item["kept"] else start
        content = contents[start:end] if item["kept"] else None
        yield MadeFile(path=item["path"], size=item["size"], sha256=item["sha256"], content=content)
        start = end
