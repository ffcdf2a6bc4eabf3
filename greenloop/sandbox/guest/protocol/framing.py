"""Messages between guest and host: frames with a length, and event lines with a run's key."""

import json
import os
import struct
from typing import Any, Protocol

_LENGTH = struct.Struct("!Q")
_CHUNK_BYTES = 1 << 20
# References to functions that the code under test, or a test of it, may replace.
_get_pid, _write, _exit = os.getpid, os.write, os._exit
_to_json = json.JSONEncoder().encode
LIVE_THREADS = "the module or its tests start threads when they are imported: no fork has them"
NO_TEST_PASSES = "no test passes on the code"  # seen in a fork, which may lack what they need
NOT_LOADED = "no test loads"  # begins the problem; the name of the file follows
PROCESSES = ""  # stands for a path among the files that a test reaches if it starts processes


class MessageStream(Protocol):
    """The methods of a stream socket that frames need."""

    def recv(self, size: int, /) -> bytes: ...

    def sendall(self, data: bytes | memoryview, /) -> None: ...


def send_frame(stream: MessageStream, data: bytes) -> None:
    """Send one frame."""
    stream.sendall(_LENGTH.pack(len(data)) + data)


def send_pieces(stream: MessageStream, pieces: list[memoryview]) -> None:
    """Send several pieces as one frame, without joining them in memory; release them."""
    stream.sendall(_LENGTH.pack(sum(map(len, pieces))))
    for piece in pieces:
        stream.sendall(piece)
        piece.release()


def receive_frame(stream: MessageStream, max_bytes: int) -> bytes:
    """Receive one frame.

    Raises:
        EOFError: the other side has closed the stream.
        ValueError: the frame is longer than `max_bytes`.
    """
    (length,) = _LENGTH.unpack(_receive_exactly(stream, _LENGTH.size))
    if length > max_bytes:
        raise ValueError(f"a message of {length} bytes is too long")
    return _receive_exactly(stream, length)


def _receive_exactly(stream: MessageStream, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = stream.recv(min(_CHUNK_BYTES, count - len(data)))
        if not part:
            raise EOFError("the other side is gone")
        data += part
    return bytes(data)


def write_all(handle: int, data: bytes | memoryview) -> None:
    """Write all of the data to a descriptor, in as many pieces as it takes."""
    sent = 0
    with memoryview(data) as view:
        while sent < len(view):
            sent += _write(handle, view[sent:])


class Channel:
    """Descriptor over which a run reports events, each line preceded by the run's key."""

    def __init__(self, handle: int, key: str) -> None:
        self._handle, self._key, self._pid = handle, key, _get_pid()

    def send(self, event: str, **values: Any) -> None:
        """Report an event. In a fork of the process that created the channel: exit."""
        if _get_pid() != self._pid:  # a fork that the code under test made and that returned
            _exit(1)
        line = f"{self._key} {_to_json({'event': event, **values})}\n"
        write_all(self._handle, line.encode())
