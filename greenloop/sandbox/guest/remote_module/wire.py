"""Messages over two pipes: a length, then JSON. Nothing is taken that is longer than it may be."""

from __future__ import annotations

import struct
from collections.abc import Callable
from json import dumps, loads  # by name: a test may patch what the modules have
from os import read, write
from typing import Any

from .errors import Broken, CannotSplit

_LENGTH = struct.Struct("!I")
_MOST_BYTES = 16 << 20
_CHUNK = 1 << 16

Message = dict[str, Any]


class Wire:
    """One end. Messages are whole or there are none."""

    def __init__(self, receive: int, send: int, last_words: Callable[[], str] | None = None):
        """`last_words` says why the other side is gone, once it is."""
        self._receive, self._send = receive, send
        self._last_words = last_words or (lambda: "the other process has closed its end")

    def send(self, message: Message) -> None:
        """Raises CannotSplit where it is too long, Broken where nobody reads any more."""
        data = dumps(message, separators=(",", ":")).encode("ascii")
        if len(data) > _MOST_BYTES:
            raise CannotSplit(f"{len(data)} bytes at once are too many between two processes")
        data = _LENGTH.pack(len(data)) + data
        try:
            while data:
                data = data[write(self._send, data) :]
        except OSError:
            raise Broken(self._last_words()) from None

    def receive(self) -> Message:
        """The next one. Raises Broken: there is none, or it is no message."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > _MOST_BYTES:
            raise Broken(f"a message of {length} bytes was announced")
        try:
            message = loads(self._exactly(length))
        except (ValueError, RecursionError):
            raise Broken("it sent what is no message") from None
        if not isinstance(message, dict):
            raise Broken("it sent what is no message")
        return message

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                part = read(self._receive, min(_CHUNK, count - len(data)))
            except OSError:
                part = b""
            if not part:
                raise Broken(self._last_words())
            data += part
        return bytes(data)
