"""Bytes between a run and a host that it may reach: counted, and no more than allowed."""

from __future__ import annotations

import select
import socket
import threading
import time

_CHUNK, _POLL_S, _IDLE_S = 65536, 0.2, 60.0


class Relay:
    """For all connections of one run together. Usable from several threads."""

    def __init__(self, until: float, most_bytes: int) -> None:
        """`until` is of the monotonic clock."""
        self._until, self._left = until, most_bytes
        self._lock, self._is_over = threading.Lock(), threading.Event()

    def stop(self) -> None:
        self._is_over.set()

    def between(self, flow: Flow, first: bytes) -> None:
        """Until one of them is done; `first` goes to the server. Raises OSError where that fails."""
        self._take(len(first))
        flow.begin(first)
        quiet_since = time.monotonic()
        while not self._is_over.is_set() and time.monotonic() < self._until:
            ready, _, _ = select.select(flow.open_ends(), [], [], _POLL_S)
            if ready:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _IDLE_S:
                break
            if not all(self._pass_on(flow, end) for end in ready):
                break

    def _pass_on(self, flow: Flow, end: socket.socket) -> bool:
        """One piece; False where this was the last."""
        try:
            count = flow.pass_on(end)
        except OSError:
            return False
        return flow.is_open if count == 0 else self._take(count)

    def _take(self, count: int) -> bool:
        """Whether there is anything left for it."""
        with self._lock:
            self._left -= count
            return self._left > 0


class Flow:
    """One connection, both ways; `sent` to the server and `received` from it, in bytes."""

    def __init__(self, client: socket.socket, server: socket.socket, left: int | None) -> None:
        """`left` is how much may still come from the client, None for all that does."""
        self._client, self._server, self._left = client, server, left
        self._client_speaks = left is None or left > 0
        self.sent = self.received = 0
        self.is_open = True

    def begin(self, data: bytes) -> None:
        """Raises OSError."""
        self._server.sendall(data)
        self.sent += len(data)

    def open_ends(self) -> list[socket.socket]:
        return [self._server, *([self._client] if self._client_speaks else [])]

    def pass_on(self, end: socket.socket) -> int:
        """How much it was; 0 where this side has ended. Raises OSError."""
        if end is self._server:
            data = end.recv(_CHUNK)
            self._client.sendall(data)
            self.received += len(data)
            self.is_open = bool(data)
            return len(data)
        data = end.recv(_CHUNK if self._left is None else min(_CHUNK, self._left))
        self._server.sendall(data)
        self.sent += len(data)
        if self._left is not None:
            self._left -= len(data)
        if not data or self._left == 0:
            self._client_speaks = False
        if not data and self._left is None:
            self._server.shutdown(socket.SHUT_WR)
        return len(data)
