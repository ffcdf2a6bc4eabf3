"""What a script's run leaves besides its output and its reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from greenloop.records import NetworkRequest
from greenloop.sandbox.inside.frames import Stream, receive_frame
from greenloop.sandbox.inside.made import Made

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
