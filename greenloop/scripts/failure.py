"""The failure of a script's run: exception, frames, last output."""

from greenloop.records import Failure, Frame
from greenloop.records.script_result import ScriptError, ScriptRun
from greenloop.scripts.output_excerpts import tail

_MAX_VALUES, _MAX_VALUE_CHARS = 8, 100
_MAX_STDERR_LINES, _MAX_STDOUT_LINES, _MAX_OUTPUT_CHARS = 6, 8, 1200
_TRACEBACK_HEADER = "Traceback (most recent call last):"
_EXCEPTION_BY_ENDING = {
    "timeout": ("Timeout", "the script was stopped at its time limit"),
    "cpu": ("CpuLimit", "the script was stopped at its limit of CPU time"),
    "memory": ("MemoryLimit", "the script was stopped: it used too much memory"),
    "processes": ("ProcessLimit", "the script started too many processes or threads"),
    "disk": ("DiskLimit", "the script wrote too many files, or too large ones"),
    "output": ("OutputLimit", "the script was stopped: it printed too much"),
    "crashed": ("Crash", "the script's process died"),
    "garbled": ("Crash", "the script's process ended for an unknown reason"),
    "interrupted": ("Interrupted", "the run was interrupted"),
}


def failure_from_run(run: ScriptRun, test: str) -> Failure | None:
    """Return why the run failed, as a failure of `test`; None if it succeeded.

    Its `output` holds the local values of the last frame and the last lines of both streams.
    """
    if run.ending == "finished" and run.exit_status == 0 and run.error is None:
        return None
    exception, message = _describe_end(run)
    return Failure(
        test=test,
        phase="call",
        exception=exception,
        message=message,
        frames=_build_frames(run),
        output=_collect_last_output(run),
    )


def _describe_end(run: ScriptRun) -> tuple[str, str]:
    if run.ending != "finished":
        return _describe_stop(run)
    extra = f"\n(limit reached: {', '.join(run.limits_hit)})" if run.limits_hit else ""
    if run.error is not None:
        return run.error.exception, (run.error.message or "(no message)") + extra
    said = tail(run.stderr, _MAX_STDERR_LINES, _MAX_OUTPUT_CHARS) or tail(
        run.stdout, 3, _MAX_OUTPUT_CHARS
    )
    last = f"; it said last:\n{said}" if said else "; it said nothing"
    return "SystemExit", f"ended with status {run.exit_status}{last}{extra}"


def _describe_stop(run: ScriptRun) -> tuple[str, str]:
    exception, words = _EXCEPTION_BY_ENDING.get(
        run.ending, ("Crash", f"the script ended as {run.ending}")
    )
    parts = [words + (f" ({run.detail})" if run.detail else "")]
    if run.limits_hit:
        parts.append(f"limit reached: {', '.join(run.limits_hit)}")
    if run.error is not None:
        parts.append(f"last exception: {run.error.exception}: {run.error.message}")
    return exception, "\n".join(parts)


def _build_frames(run: ScriptRun) -> tuple[Frame, ...]:
    frames = run.error.frames if run.error is not None else run.where
    keep = ("file", "line", "function", "text")
    return tuple(Frame(**{key: getattr(item, key) for key in keep}) for item in frames)


def _collect_last_output(run: ScriptRun) -> str:
    parts = [_describe_local_values(run.error)] if run.error is not None else []
    stdout = tail(run.stdout, _MAX_STDOUT_LINES, _MAX_OUTPUT_CHARS)
    if stdout:
        parts.append(f"last lines of standard output:\n{stdout}")
    stderr = tail(run.stderr.partition(_TRACEBACK_HEADER)[0], _MAX_STDERR_LINES, _MAX_OUTPUT_CHARS)
    if stderr and run.error is not None:
        parts.append(f"last lines of standard error:\n{stderr}")
    return "\n".join(item for item in parts if item)


def _describe_local_values(error: ScriptError) -> str:
    """Return `values in main, line 12: row = {…}, total = 0` of the innermost frame with values."""
    frame = next((item for item in reversed(error.frames) if item.local_values), None)
    if frame is None:
        return ""
    shown = [
        f"{name} = {value[:_MAX_VALUE_CHARS]}" for name, value in frame.local_values[:_MAX_VALUES]
    ]
    more = len(frame.local_values) - _MAX_VALUES
    values = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    return f"values in {frame.function}, line {frame.line}: {values}"
