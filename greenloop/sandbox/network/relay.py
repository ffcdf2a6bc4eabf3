"""Relay of bytes between a run and an allowed host, with a limit on their number."""

import select
import socket
import threading
import time

_CHUNK, _POLL_SECONDS, _IDLE_SECONDS = 65536, 0.2, 60.0


class Relay:
    """Transfers the bytes of all connections of one run. Safe to use from several threads."""

    def __init__(self, deadline: float, max_bytes: int) -> None:
        """`deadline` is a time of the monotonic clock."""
        self._deadline, self._remaining_bytes = deadline, max_bytes
        self._lock, self._is_over = threading.Lock(), threading.Event()

    def stop(self) -> None:
        self._is_over.set()

    def transfer(self, connection: "ProxyConnection", first_bytes: bytes) -> None:
        """Send `first_bytes` to the server, then transfer until one side ends. Raises OSError."""
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

    def _forward(self, connection: "ProxyConnection", end: socket.socket) -> bool:
        """Forward one chunk; return whether more may follow."""
        try:
            count = connection.forward(end)
        except OSError:
            return False
        return connection.is_open if count == 0 else self._consume(count)

    def _consume(self, count: int) -> bool:
        """Count bytes; return whether the limit allows more."""
        with self._lock:
            self._remaining_bytes -= count
            return self._remaining_bytes > 0


class ProxyConnection:
    """Both directions of a connection; `sent` and `received` count bytes, as the client sees it."""

    def __init__(
        self, client: socket.socket, server: socket.socket, remaining_bytes: int | None
    ) -> None:
        """`remaining_bytes` limits what the client may still send; None for no limit."""
        self._client, self._server, self._remaining_bytes = client, server, remaining_bytes
        self._is_client_open = remaining_bytes is None or remaining_bytes > 0
        self.sent = self.received = 0
        self.is_open = True

    def send_first(self, data: bytes) -> None:
        """Send data to the server. Raises OSError."""
        self._server.sendall(data)
        self.sent += len(data)

    def readable_sockets(self) -> list[socket.socket]:
        return [self._server, *([self._client] if self._is_client_open else [])]

    def forward(self, end: socket.socket) -> int:
        """Forward one chunk from this side and return its size, 0 at its end. Raises OSError."""
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
