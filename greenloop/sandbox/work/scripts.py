"""Runs of a script as `__main__`, with its input files and the files that it creates."""

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from greenloop.dependencies import InstalledPackages
from greenloop.encodings import encode_source
from greenloop.records import Ending, Failure, ProducedFile, ScriptError, ScriptJob, ScriptRun
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.file_layout import check_layout, make_paths_safe, make_text_safe
from greenloop.sandbox.work.limit_detection import classify_ending, detect_limits_hit
from greenloop.sandbox.work.result_decoder import decode_events, describe_exit, parse_frames

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox


def run_script(sandbox: "Sandbox", job: ScriptJob) -> ScriptRun:
    """Run a script as `__main__` in a new working folder that holds its inputs.

    Raises:
        InputError: the files cannot be written as given (a path outside of the folder, two files of
            one path, too many or too large files).
        SandboxError: no process can be started.
    """
    work = _build_job(job, sandbox.limits, sandbox.packages)
    return _build_run(sandbox.run(work), work, work.apply_limits(sandbox.limits))


def _build_job(job: ScriptJob, limits: ResourceLimits, packages: InstalledPackages) -> Job:
    source = job.script if isinstance(job.script, bytes) else encode_source(job.script)
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
    )


def _build_run(result: ProcessResult, job: Job, limits: ResourceLimits) -> ScriptRun:
    """Build the record of a run from the valid parts of data that untrusted code may have sent."""
    error = _find_error(result, job.key)
    failures = (
        [Failure(test="", phase="call", exception=error.exception, message=error.message)]
        if error
        else []
    )
    ending = _classify_ending(result, failures)
    hit = detect_limits_hit(ending, result, True, failures)
    sources = {path: content.decode("utf-8", "replace") for path, content in job.tree}
    artifacts = result.artifacts
    manifest = artifacts.manifest or {"files": [], "left_out": [], "changed": []}
    return ScriptRun(
        ending=ending,
        detail=_describe_ending(ending, result.status, [*map(limits.describe_exceeded, hit)]),
        exit_status=result.status,
        stdout=result.output.decode("utf-8", "replace"),
        stdout_cut="output" in artifacts.truncated_streams,
        stderr=artifacts.stderr.decode("utf-8", "replace"),
        stderr_cut="errors" in artifacts.truncated_streams,
        made=tuple(_iter_created_files(manifest["files"], artifacts.contents)),
        left_out=tuple(
            make_text_safe(f"{item['path']}: {item['why']}") for item in manifest["left_out"]
        ),
        changed_inputs=tuple(manifest["changed"]),
        error=error,
        where=parse_frames(result.stack_dump, sources) if ending == "timeout" else (),
        limits_hit=hit,
        duration_s=result.duration_s,
    )


def _find_error(result: ProcessResult, key: str) -> ScriptError | None:
    """Return the last valid error report (see `guest.scripts.exception_report`)."""
    events, _ = decode_events(result.channel_data, key)
    for event in reversed(events):
        if event.pop("event", None) == "error":
            try:
                return ScriptError.model_validate(event)
            except ValueError:
                continue
    return None


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
    return f"reached a limit: {reached}" if reached and ending == "finished" else reached


def _iter_created_files(files: list[dict[str, Any]], contents: bytes) -> Iterator[ProducedFile]:
    """Yield each file with its part of the concatenated contents."""
    start, paths = 0, make_paths_safe([item["path"] for item in files])
    for item, path in zip(files, paths, strict=True):
        end = start + item["size"] if item["kept"] else start
        content = contents[start:end] if item["kept"] else None
        yield ProducedFile(path=path, size=item["size"], sha256=item["sha256"], content=content)
        start = end
