"""How a sandbox process ended, and what a script left behind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.records import Ending, NetworkRequest
from greenloop.sandbox.guest.files.collector import Made
from greenloop.sandbox.guest.protocol.framing import Stream, receive_frame

_FRAME_BYTES = 64 << 20


@dataclass(frozen=True)
class Left:
    """What came over standard error, which streams were `cut` ("output", "errors"), and what it
    made: an account (see `inside.made`) and the contents that it names, one after the other;
    `network` is what it asked the proxy for.
    """

    errors: bytes = b""
    cut: tuple[str, ...] = ()
    account: dict[str, Any] | None = None
    contents: bytes = b""
    network: tuple[NetworkRequest, ...] = ()

    @classmethod
    def received(cls, stream: Stream, cut: Iterable[str]) -> Left:
        """From the three messages in which it is sent. Raises EOFError, OSError or ValueError."""
        errors, account, contents = (receive_frame(stream, _FRAME_BYTES) for _ in range(3))
        return cls(errors, tuple(cut), json.loads(account), contents)

    def with_made(self, made: Made) -> Left:
        return replace(self, account=made.account(), contents=bytes(made.contents))


@dataclass(frozen=True)
class Ended:
    """How a process ended. `status` is negative for a signal; `result` is its side channel.

    `hit` names limits that were reached, as far as they were seen to be; `where` is what it
    answered when time was up and it was asked where it is; `left` is of a script alone.
    """

    ending: Ending
    status: int
    output: bytes
    result: bytes
    duration_s: float
    hit: tuple[str, ...] = ()
    where: str = ""
    left: Left = field(default_factory=Left)
