"""Result of a sandbox process, and its reception from the socket of a run."""

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from greenloop.errors import SandboxError
from greenloop.records import Ending
from greenloop.sandbox.guest.protocol.framing import MessageStream, receive_frame, send_frame

MAX_FRAME_BYTES = 64 << 20
POLL_SECONDS = 0.05
_ENDINGS = ("finished", "timeout", "memory", "processes", "disk", "output", "interrupted")


@dataclass(frozen=True, slots=True)
class ScriptArtifacts:
    """Standard error and created files of a script."""

    stderr: bytes = b""
    truncated_streams: tuple[str, ...] = ()  # which streams were cut: "output", "errors"
    # The files that the script created (see `guest.files.collector`).
    manifest: dict[str, Any] | None = None
    contents: bytes = b""  # concatenated contents of the files that were kept

    @classmethod
    def from_stream(
        cls, stream: MessageStream, truncated_streams: Iterable[str]
    ) -> "ScriptArtifacts":
        """Receive the artifacts, three frames. Raises EOFError, OSError or ValueError."""
        errors, manifest, contents = (receive_frame(stream, MAX_FRAME_BYTES) for _ in range(3))
        return cls(errors, tuple(truncated_streams), json.loads(manifest), contents)


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """Ending, output and reports of a sandbox process."""

    ending: Ending
    status: int  # exit status; negative for a signal
    output: bytes  # standard output (for all but scripts with standard error)
    channel_data: bytes  # data of the result channel
    duration_s: float
    limits_hit: tuple[str, ...] = ()  # limits that were observed to be reached
    stack_dump: str = ""  # stack of the process at its timeout
    artifacts: ScriptArtifacts = ScriptArtifacts()
    cpu_s: float = 0.0  # 0 if the backend does not know it

    @classmethod
    def without_report(cls, ending: Ending, started: float, output: bytes = b"") -> "ProcessResult":
        """Return the result of a run, begun at `started`, that sent no report."""
        return cls(ending, -9, output, b"", time.monotonic() - started)

    @property
    def last_line(self) -> str:
        """The last line of the output, at most 300 characters."""
        return self.output.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]


def receive_head(
    connection: socket.socket,
    started: float,
    stop: threading.Event,
    timeout_s: float,
    on_progress: Callable[[int], None] | None = None,
) -> dict[str, Any] | ProcessResult:
    """Wait until a run that began at `started` reports; return the head of its report.

    If `stop` is set or `timeout_s` is over first, return a result without report. `on_progress` is
    called with the number of finished tests or mutants.
    Raises OSError, EOFError or ValueError if the guest breaks the connection or the protocol.
    """
    while True:
        while not select.select([connection], [], [], POLL_SECONDS)[0]:
            if stop.is_set():
                return ProcessResult.without_report("interrupted", started)
            if time.monotonic() - started > timeout_s:
                return ProcessResult.without_report("timeout", started)
        head: dict[str, Any] = json.loads(receive_frame(connection, MAX_FRAME_BYTES))
        if "done" not in head:
            return head
        if on_progress:
            on_progress(int(head["done"]))


def receive_report(
    connection: socket.socket,
    backend: str,
    started: float,
    head: dict[str, Any],
    artifact_request: dict[str, Any] | None = None,
) -> ProcessResult:
    """Receive the frames after the head: output, result channel, stack dump, script artifacts.

    `artifact_request` is sent only after the run, because the run could read it before.

    Raises:
        SandboxError: the guest could not begin the run.
        OSError, EOFError, ValueError: the guest closed the connection or broke the protocol.
    """
    if "trouble" in head:
        raise SandboxError(f"{backend}: {head['trouble']}")
    output, channel_data, dump = (receive_frame(connection, MAX_FRAME_BYTES) for _ in range(3))
    artifacts = ScriptArtifacts()
    if artifact_request:
        send_frame(connection, json.dumps(artifact_request).encode())
        artifacts = ScriptArtifacts.from_stream(connection, head["cut"])
    return ProcessResult(
        head["ending"] if head["ending"] in _ENDINGS else "crashed",
        int(head["status"]),
        output,
        channel_data,
        time.monotonic() - started,
        tuple(head["hit"]),
        dump.decode("utf-8", "replace"),
        artifacts,
        float(head.get("cpu_s", 0.0)),
    )
