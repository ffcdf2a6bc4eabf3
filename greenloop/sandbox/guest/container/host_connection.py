"""The way from a container to its host."""

from __future__ import annotations

import os
import struct

from ..zygote.file_descriptors import reserve_fds


class HostConnection:
    """The host, over the two pipes that were standard input and output."""

    def __init__(self) -> None:
        """Takes the pipes away from where others would write to them."""
        self._incoming, self._outgoing = reserve_fds(os.dup(0)), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)

    def fileno(self) -> int:
        """Of the incoming pipe."""
        return self._incoming

    def recv(self, size: int, /) -> bytes:
        return os.read(self._incoming, size)

    def sendall(self, data: bytes | memoryview, /) -> None:
        with memoryview(data) as rest:
            sent = 0
            while sent < len(rest):
                sent += os.write(self._outgoing, rest[sent:])

    def send_frame_pieces(self, pieces: list[memoryview]) -> None:
        """One frame out of several pieces, which are not put together in memory."""
        self.sendall(struct.pack("!Q", sum(map(len, pieces))))
        for piece in pieces:
            self.sendall(piece)
            piece.release()
