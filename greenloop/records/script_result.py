"""A script to run, and what its run showed."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from greenloop.records.base import Record
from greenloop.records.pytest_run import Ending, Frame, LimitName


class Base64Record(Record):
    """Bytes are base64 in JSON."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class InputFile(Base64Record):
    """A file as a run sees it: `path` is relative to its working folder, with `/` between parts."""

    path: str
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class ScriptJob(Base64Record):
    """A script to be run as `python NAME ARGUMENTS` in a fresh folder that holds the inputs.

    `script` as text is written in the encoding that it declares, as bytes it is taken as it is.
    `name` may hold folders. Of the files that it makes, those that match one of `keep` (patterns as
    in `fnmatch`) come first where not all can be handed over. `timeout_s` is the sandbox's where it
    is None. `allow_network` names the only hosts that it may reach: `example.org`, `*.example.org`,
    each with `:PORT` behind it or without.
    """

    script: str | bytes
    name: str = "script.py"
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    inputs: tuple[InputFile, ...] = ()
    keep: tuple[str, ...] = ()
    timeout_s: float | None = Field(None, gt=0)
    allow_network: tuple[str, ...] = ()


class ProducedFile(Base64Record):
    """A file that was not there before; `size` in bytes, `sha256` in hexadecimal digits.

    `content` is None, and `sha256` empty, where it was too much to be handed over.
    """

    path: str
    size: int
    sha256: str = ""
    content: bytes | None = None

    @property
    def text(self) -> str:
        return (self.content or b"").decode("utf-8", "replace")


class ScriptFrame(Frame):
    """One line of a traceback; `local_values` are (name, short repr), secrets as `***`."""

    local_values: tuple[tuple[str, str], ...] = ()


class ScriptError(Record):
    """The exception that ended a script; `frames` are in its own files, the outermost first.

    What a script says of itself: it may be forged, other than the ending and the exit status.
    """

    exception: str
    message: str
    frames: tuple[ScriptFrame, ...] = ()


class NetworkRequest(Record):
    """One request that came to the proxy; sizes in bytes. `why` says why it was not let through."""

    host: str
    port: int
    method: str
    allowed: bool
    why: str = ""
    sent: int = 0
    received: int = 0


class ScriptRun(Base64Record):
    """One run of a script. `succeeded` is the only way to ask whether it went well.

    `ending` tells how the process came to its end, `detail` that in words, with the signal or the
    limit by name. `exit_status` is what it really ended with, negative for a signal. Standard output
    and error are UTF-8 with replacements; of too much, the middle is cut out, and `…_cut` says so.
    `made` are regular files only; `left_out` says what else there was and why it was not handed
    over. `changed_inputs` are inputs that were changed or removed. `where` is the place that it was
    at when time was up.
    """

    ending: Ending
    detail: str = ""
    exit_status: int | None = None
    stdout: str = ""
    stdout_cut: bool = False
    stderr: str = ""
    stderr_cut: bool = False
    made: tuple[ProducedFile, ...] = ()
    left_out: tuple[str, ...] = ()
    changed_inputs: tuple[str, ...] = ()
    error: ScriptError | None = None
    where: tuple[Frame, ...] = ()
    network: tuple[NetworkRequest, ...] = ()
    limits_hit: tuple[LimitName, ...] = ()
    duration_s: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether it came to its own end with status 0, told of no error, and left its inputs be."""
        return (
            self.ending == "finished"
            and self.exit_status == 0
            and self.error is None
            and not self.changed_inputs
        )
