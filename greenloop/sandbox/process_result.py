"""How a sandbox process ended, and what a script left behind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.records import Ending, NetworkRequest
from greenloop.sandbox.guest.files.collector import CreatedFiles
from greenloop.sandbox.guest.protocol.framing import MessageStream, receive_frame

_MAX_FRAME_BYTES = 64 << 20


@dataclass(frozen=True)
class ScriptArtifacts:
    """What came over standard error, which streams were `cut` ("output", "errors"), and what it
    made: an account (see `inside.made`) and the contents that it names, one after the other;
    `network` is what it asked the proxy for.
    """

    stderr: bytes = b""
    truncated_streams: tuple[str, ...] = ()
    manifest: dict[str, Any] | None = None
    contents: bytes = b""
    network_requests: tuple[NetworkRequest, ...] = ()

    @classmethod
    def from_stream(
        cls, stream: MessageStream, truncated_streams: Iterable[str]
    ) -> ScriptArtifacts:
        """From the three messages in which it is sent. Raises EOFError, OSError or ValueError."""
        errors, account, contents = (receive_frame(stream, _MAX_FRAME_BYTES) for _ in range(3))
        return cls(errors, tuple(truncated_streams), json.loads(account), contents)

    def with_files(self, files: CreatedFiles) -> ScriptArtifacts:
        return replace(self, manifest=files.to_summary(), contents=bytes(files.contents))


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended. `status` is negative for a signal; `result` is its side channel.

    `hit` names limits that were reached, as far as they were seen to be; `where` is what it
    answered when time was up and it was asked where it is; `left` is of a script alone.
    """

    ending: Ending
    status: int
    output: bytes
    channel_data: bytes
    duration_s: float
    limits_hit: tuple[str, ...] = ()
    stack_dump: str = ""
    artifacts: ScriptArtifacts = field(default_factory=ScriptArtifacts)
