"""Length-prefixed messages over a stream socket."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 20


def send_frame(stream: socket.socket, data: bytes) -> None:
    stream.sendall(_LENGTH.pack(len(data)) + data)


def receive_frame(stream: socket.socket, most: int) -> bytes:
    """One message. Raises EOFError where the other side is gone, ValueError where it is too long."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    if length > most:
        raise ValueError(f"a message of {length} bytes is too long")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = stream.recv(min(_CHUNK, count - len(data)))
        if not part:
            raise EOFError("the other side is gone")
        data += part
    return bytes(data)
