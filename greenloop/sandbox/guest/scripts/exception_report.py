"""The exception that ended a script, told in plain values: first what is certain, then the rest."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import types
from collections.abc import Iterator

from ..protocol.channel import Channel
from ..pytest_plugin.failure_details import MAX_TEXT, describe_failure, keep_ends
from .safe_repr import ValueFormatter, find_secrets, mask_secrets

_MAX_SECONDS = 2.0


def report_exception(error: BaseException, channel: Channel, work: str) -> None:
    """Three events `error`, the last of which counts: its class; its text and frames; their locals.

    Text and values are made by code of the script, perhaps. It can print nothing meanwhile, and where
    it does not come to its end this process does, as if after the error: with status 1.
    """
    name = str(type.__dict__["__name__"].__get__(type(error)))[:MAX_TEXT]
    channel.send("error", exception=_escape(name), message="", frames=[])
    with contextlib.suppress(BaseException), _silenced_with_timeout():
        told = describe_failure(error, "", work)
        frames = keep_ends(list(_iterate_script_frames(error.__traceback__, work)))
        hidden = find_secrets(frames)
        told = mask_secrets(
            hidden, {name: told[name] for name in ("exception", "message", "frames")}
        )
        channel.send("error", **told)
        values = ValueFormatter(work, hidden)
        for frame, shown in zip(frames, told["frames"], strict=False):
            shown["local_values"] = values.format_variables(frame, shown["text"])
        channel.send("error", **told)


def _iterate_script_frames(
    trace: types.TracebackType | None, work: str
) -> Iterator[types.FrameType]:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(work):
            yield trace.tb_frame
        trace = trace.tb_next


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@contextlib.contextmanager
def _silenced_with_timeout() -> Iterator[None]:
    """What is written goes nowhere; a clock in C that no Python code can hold up ends the process."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    saved = [os.dup(number) for number in (1, 2)]
    faulthandler.dump_traceback_later(_MAX_SECONDS, exit=True, file=nothing)
    for number in (1, 2):
        os.dup2(nothing, number)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        for number, handle in zip((1, 2), saved, strict=True):
            os.dup2(handle, number)
            os.close(handle)
        os.close(nothing)
