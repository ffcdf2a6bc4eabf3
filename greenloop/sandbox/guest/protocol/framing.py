"""Length-prefixed messages over a stream."""

from __future__ import annotations

import struct
from typing import Protocol

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 20


class MessageStream(Protocol):
    """What a stream socket can do, as far as it is needed."""

    def recv(self, size: int, /) -> bytes: ...

    def sendall(self, data: bytes, /) -> None: ...


def send_frame(stream: MessageStream, data: bytes) -> None:
    stream.sendall(_LENGTH.pack(len(data)) + data)


def receive_frame(stream: MessageStream, max_bytes: int) -> bytes:
    """One message. Raises EOFError where the other side is gone, ValueError where it is too long."""
    (length,) = _LENGTH.unpack(_receive_exactly(stream, _LENGTH.size))
    if length > max_bytes:
        raise ValueError(f"a message of {length} bytes is too long")
    return _receive_exactly(stream, length)


def _receive_exactly(stream: MessageStream, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = stream.recv(min(_CHUNK, count - len(data)))
        if not part:
            raise EOFError("the other side is gone")
        data += part
    return bytes(data)
