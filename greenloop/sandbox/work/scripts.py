"""From a script's job to work for a process, and from its end to a ScriptRun."""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Iterator
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.records import Ending, Failure, ProducedFile, ScriptError, ScriptJob, ScriptRun
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.network.allowlist import HostRule
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.file_layout import check_layout
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.result_decoder import decode_events, describe_exit
from greenloop.sandbox.work.stack_dump import parse_frames

KEPT_BYTES = 1 << 20  # of standard output and of errors each: it is what a script is run for


def build_script_job(job: ScriptJob, limits: ResourceLimits, packages: InstalledPackages) -> Job:
    """Raises InputError where it cannot be laid out."""
    source = encode_script(job.script)
    tree = ((job.name, source), *((item.path, item.content) for item in job.inputs))
    check_layout(tree, limits, len(job.stdin))
    inputs = {path: (len(content), hashlib.sha256(content).hexdigest()) for path, content in tree}
    return Job(
        "script",
        (),
        {"name": job.name, "arguments": list(job.arguments)},
        packages=packages,
        timeout_s=job.timeout_s,
        tree=tree,
        stdin=job.stdin,
        artifact_request={"inputs": inputs, "keep": list(job.keep)},
        allowed_hosts=tuple(HostRule.parse(text) for text in job.allow_network),
    )


def encode_script(script: str | bytes) -> bytes:
    """A script's text in the encoding that it declares, as far as that has what is in it."""
    if isinstance(script, bytes):
        return script
    data = script.encode("utf-8", "surrogatepass")
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data if declared.startswith("utf-8") else script.encode(declared)
    except (SyntaxError, LookupError, ValueError):
        return data  # Python will say what is wrong with it


def build_script_run(result: ProcessResult, job: Job, limits: ResourceLimits) -> ScriptRun:
    """The run as it was reported; of what foreign code may have sent, only what has its form."""
    error = _find_error(result, job.key)
    told = [_to_failure(error)] if error else []
    ending = _classify_ending(result, told)
    hit = detect_limits_hit(ending, result, True, told)
    texts = {path: content.decode("utf-8", "replace") for path, content in job.tree}
    left = result.artifacts
    account = left.manifest or {"files": [], "left_out": [], "changed": []}
    return ScriptRun(
        ending=ending,
        detail=_describe_ending(
            ending, result.status, [limits.describe_exceeded(name) for name in hit]
        ),
        exit_status=result.status,
        stdout=result.output.decode("utf-8", "replace"),
        stdout_cut="output" in left.truncated_streams,
        stderr=left.stderr.decode("utf-8", "replace"),
        stderr_cut="errors" in left.truncated_streams,
        made=tuple(_iter_made_files(account["files"], left.contents)),
        left_out=tuple(f"{item['path']}: {item['why']}" for item in account["left_out"]),
        changed_inputs=tuple(account["changed"]),
        error=error,
        network=left.network_requests,
        where=parse_frames(result.stack_dump, texts) if ending == "timeout" else (),
        limits_hit=hit,
        duration_s=result.duration_s,
    )


def _find_error(result: ProcessResult, key: str) -> ScriptError | None:
    """The last account of it that has its form; see `inside.telling`."""
    heard, _ = decode_events(result.channel_data, key)
    for event in reversed(heard):
        if event.pop("event", None) == "error":
            try:
                return ScriptError.model_validate(event)
            except ValueError:
                continue
    return None


def _to_failure(error: ScriptError) -> Failure:
    return Failure(test="", phase="call", exception=error.exception, message=error.message)


def _classify_ending(result: ProcessResult, failures: list[Failure]) -> Ending:
    if result.ending != "finished":
        return result.ending
    if result.status >= 0:
        out_of_memory = any(item.exception == "MemoryError" for item in failures)
        return "memory" if out_of_memory else "finished"
    return classify_ending(result, False, failures)


def _describe_ending(ending: Ending, status: int, exceeded: list[str]) -> str:
    reached = ", ".join(exceeded)
    if ending == "crashed":
        return describe_exit(status) + (f"; reached a limit: {reached}" if reached else "")
    if ending == "finished":
        return f"reached a limit: {reached}" if reached else ""
    return reached


def _iter_made_files(files: list[dict[str, Any]], contents: bytes) -> Iterator[ProducedFile]:
    """Each with its part of the contents, which lie one after the other."""
    start = 0
    for item in files:
        end = start + item["size"] if item["kept"] else start
        content = contents[start:end] if item["kept"] else None
        yield ProducedFile(
            path=item["path"], size=item["size"], sha256=item["sha256"], content=content
        )
        start = end
