"""Bytes between a run and a host that it may reach: counted, and no more than allowed."""

from __future__ import annotations

import select
import socket
import threading
import time

_CHUNK, _POLL_SECONDS, _IDLE_SECONDS = 65536, 0.2, 60.0


class Relay:
    """For all connections of one run together. Usable from several threads."""

    def __init__(self, deadline: float, max_bytes: int) -> None:
        """`until` is of the monotonic clock."""
        self._deadline, self._remaining_bytes = deadline, max_bytes
        self._lock, self._is_over = threading.Lock(), threading.Event()

    def stop(self) -> None:
        self._is_over.set()

    def transfer(self, connection: ProxyConnection, first_bytes: bytes) -> None:
        """Until one of them is done; `first` goes to the server. Raises OSError where that fails."""
        self._consume(len(first_bytes))
        connection.send_first(first_bytes)
        quiet_since = time.monotonic()
        while not self._is_over.is_set() and time.monotonic() < self._deadline:
            ready, _, _ = select.select(connection.readable_sockets(), [], [], _POLL_SECONDS)
            if ready:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _IDLE_SECONDS:
                break
            if not all(self._forward(connection, end) for end in ready):
                break

    def _forward(self, connection: ProxyConnection, end: socket.socket) -> bool:
        """One piece; False where this was the last."""
        try:
            count = connection.forward(end)
        except OSError:
            return False
        return connection.is_open if count == 0 else self._consume(count)

    def _consume(self, count: int) -> bool:
        """Whether there is anything left for it."""
        with self._lock:
            self._remaining_bytes -= count
            return self._remaining_bytes > 0


class ProxyConnection:
    """One connection, both ways; `sent` to the server and `received` from it, in bytes."""

    def __init__(
        self, client: socket.socket, server: socket.socket, remaining_bytes: int | None
    ) -> None:
        """`left` is how much may still come from the client, None for all that does."""
        self._client, self._server, self._remaining_bytes = client, server, remaining_bytes
        self._is_client_open = remaining_bytes is None or remaining_bytes > 0
        self.sent = self.received = 0
        self.is_open = True

    def send_first(self, data: bytes) -> None:
        """Raises OSError."""
        self._server.sendall(data)
        self.sent += len(data)

    def readable_sockets(self) -> list[socket.socket]:
        return [self._server, *([self._client] if self._is_client_open else [])]

    def forward(self, end: socket.socket) -> int:
        """How much it was; 0 where this side has ended. Raises OSError."""
        if end is self._server:
            data = end.recv(_CHUNK)
            self._client.sendall(data)
            self.received += len(data)
            self.is_open = bool(data)
            return len(data)
        data = end.recv(
            _CHUNK if self._remaining_bytes is None else min(_CHUNK, self._remaining_bytes)
        )
        self._server.sendall(data)
        self.sent += len(data)
        if self._remaining_bytes is not None:
            self._remaining_bytes -= len(data)
        if not data or self._remaining_bytes == 0:
            self._is_client_open = False
        if not data and self._remaining_bytes is None:
            self._server.shutdown(socket.SHUT_WR)
        return len(data)
