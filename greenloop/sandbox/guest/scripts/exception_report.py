"""Report of the exception that ended a script; facts that the script cannot change come first."""

import contextlib
import faulthandler
import os
import types
from collections.abc import Iterator

from ..protocol.framing import Channel
from ..pytest_plugin.failure_details import MAX_TEXT, describe_failure, keep_ends
from .safe_repr import ValueFormatter, find_secrets, mask_secrets

_MAX_SECONDS = 2.0


def report_exception(error: BaseException, channel: Channel, work: str) -> None:
    """Report `error` three times: class; with message and frames; with local values.

    The last report counts. Code of the script may compute message and values. Its output is then
    discarded, and if it takes too long, the process exits with status 1, as after the error.
    """
    name = str(type.__dict__["__name__"].__get__(type(error)))[:MAX_TEXT]
    name = name.encode("utf-8", "backslashreplace").decode()
    channel.send("error", exception=name, message="", frames=[])
    with contextlib.suppress(BaseException), _silence_with_timeout():
        details = describe_failure(error, "", work)
        frames = keep_ends(list(_iterate_script_frames(error.__traceback__, work)))
        secrets = find_secrets(frames)
        details = mask_secrets(
            secrets, {name: details[name] for name in ("exception", "message", "frames")}
        )
        channel.send("error", **details)
        values = ValueFormatter(work, secrets)
        for frame, shown in zip(frames, details["frames"], strict=False):
            shown["local_values"] = values.format_variables(frame, shown["text"])
        channel.send("error", **details)


def _iterate_script_frames(
    trace: types.TracebackType | None, work: str
) -> Iterator[types.FrameType]:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(work):
            yield trace.tb_frame
        trace = trace.tb_next


@contextlib.contextmanager
def _silence_with_timeout() -> Iterator[None]:
    """Discard output, and exit after a timeout by a C timer that Python code cannot delay."""
    null = os.open(os.devnull, os.O_WRONLY)
    saved = [os.dup(number) for number in (1, 2)]
    faulthandler.dump_traceback_later(_MAX_SECONDS, exit=True, file=null)
    for number in (1, 2):
        os.dup2(null, number)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        for number, handle in zip((1, 2), saved, strict=True):
            os.dup2(handle, number)
            os.close(handle)
        os.close(null)
