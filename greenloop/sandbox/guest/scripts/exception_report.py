"""The exception that ended a script, told in plain values: first what is certain, then the rest."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import types
from collections.abc import Iterator

from ..protocol.channel import Channel
from ..pytest_plugin.failure_details import TEXT, described, ends
from .safe_repr import Values, secrets_of, without

_MOST_S = 2.0


def tell(error: BaseException, channel: Channel, work: str) -> None:
    """Three events `error`, the last of which counts: its class; its text and frames; their locals.

    Text and values are made by code of the script, perhaps. It can print nothing meanwhile, and where
    it does not come to its end this process does, as if after the error: with status 1.
    """
    name = str(type.__dict__["__name__"].__get__(type(error)))[:TEXT]
    channel.send("error", exception=_plain(name), message="", frames=[])
    with contextlib.suppress(BaseException), _bounded():
        told = described(error, "", work)
        frames = ends(list(_own_frames(error.__traceback__, work)))
        hidden = secrets_of(frames)
        told = without(hidden, {name: told[name] for name in ("exception", "message", "frames")})
        channel.send("error", **told)
        values = Values(work, hidden)
        for frame, shown in zip(frames, told["frames"], strict=False):
            shown["local_values"] = values.of(frame, shown["text"])
        channel.send("error", **told)


def _own_frames(trace: types.TracebackType | None, work: str) -> Iterator[types.FrameType]:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(work):
            yield trace.tb_frame
        trace = trace.tb_next


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """What is written goes nowhere; a clock in C that no Python code can hold up ends the process."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    saved = [os.dup(number) for number in (1, 2)]
    faulthandler.dump_traceback_later(_MOST_S, exit=True, file=nothing)
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
