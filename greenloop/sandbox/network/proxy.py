"""A proxy outside the wall for one run: it lets requests to the allowed hosts through, no others.

It listens on a socket that was made inside the run's own network, where nothing else is: the socket
was handed out, so no process of the run ever holds anything of this machine's network.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from greenloop.records import NetworkRequest
from greenloop.sandbox.network.allowlist import Places, Rule, places, why_not
from greenloop.sandbox.network.http_request import BadRequest, Request, read_request
from greenloop.sandbox.network.relay import Flow, Relay

_MOST_REQUESTS, _AT_ONCE = 500, 16
MOST_BYTES = 64 << 20  # of all requests together, both ways
_HEAD_S, _CONNECT_S, _POLL_S = 10.0, 10.0, 0.2
Note = Callable[[NetworkRequest], None]


class Proxy:
    """`requests` are those that were answered so far, in the order in which they came; bounded in
    number, bytes and time."""

    def __init__(self, rules: Sequence[Rule], seconds: float, most_bytes: int = MOST_BYTES) -> None:
        self._rules, self._until = tuple(rules), time.monotonic() + seconds
        self._relay = Relay(self._until, most_bytes)
        self._requests: dict[int, NetworkRequest] = {}  # by their number
        self._lock, self._free = threading.Lock(), threading.Semaphore(_AT_ONCE)
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def requests(self) -> tuple[NetworkRequest, ...]:
        with self._lock:
            return tuple(request for _, request in sorted(self._requests.items()))

    def serve(self, listener: socket.socket) -> None:
        """Answers what comes to a socket, from now on until `close`."""
        self._start(self._accept, listener)

    def close(self) -> None:
        """Ends all connections. Who still asks for an address is not waited for long."""
        self._is_over.set()
        self._relay.stop()
        for thread in self._threads:
            thread.join(2 * _POLL_S)

    def _start(self, work: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True, name="greenloop-proxy")
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        listener.settimeout(_POLL_S)
        with listener:
            for number in range(_MOST_REQUESTS):
                client = self._next(listener)
                if client is None:
                    return
                self._start(self._answer, client, partial(self._note, number))
        too_many = NetworkRequest(
            host="", port=0, method="", allowed=False, why="too many requests"
        )
        self._note(_MOST_REQUESTS, too_many)

    def _next(self, listener: socket.socket) -> socket.socket | None:
        """None when it is over."""
        while not self._is_over.is_set() and time.monotonic() < self._until:
            if not self._free.acquire(timeout=_POLL_S):
                continue
            with contextlib.suppress(OSError):
                return listener.accept()[0]
            self._free.release()
        return None

    def _answer(self, client: socket.socket, note: Note) -> None:
        try:
            with client:
                client.settimeout(_HEAD_S)
                self._handle(client, note)
        except OSError:
            pass  # it has gone away
        finally:
            self._free.release()

    def _handle(self, client: socket.socket, note: Note) -> None:
        try:
            request = read_request(client)
        except BadRequest as error:
            note(NetworkRequest(host="", port=0, method="", allowed=False, why=str(error)))
            client.sendall(_refusal(400, str(error)))
            return
        why, where = why_not(self._rules, request.host, request.port), []
        try:
            where = [] if why else places(request.host, request.port)
        except PermissionError as error:
            why = str(error)
        except OSError as error:
            self._fail(client, request, error, note)
            return
        if why:
            note(_noted(request, allowed=False, why=why))
            client.sendall(_refusal(403, why))
        else:
            self._let_through(client, request, where, note)

    def _let_through(
        self, client: socket.socket, request: Request, where: Places, note: Note
    ) -> None:
        try:
            server = _connected(request.port, where)
        except OSError as error:
            self._fail(client, request, error, note)
            return
        flow = Flow(client, server, request.left)
        try:
            with server:
                if not request.opening:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._relay.between(flow, request.opening + request.rest)
        finally:
            sizes = {"sent": flow.sent, "received": flow.received}
            note(_noted(request, allowed=True, **sizes))

    def _fail(self, client: socket.socket, request: Request, error: OSError, note: Note) -> None:
        """It may be reached, and cannot be."""
        why = f"{request.host} cannot be reached: {error}"
        note(_noted(request, allowed=True, why=why))
        client.sendall(_refusal(502, why))

    def _note(self, number: int, request: NetworkRequest) -> None:
        """An answer may end after the next request's: they are kept in the order they came in."""
        with self._lock:
            self._requests[number] = request


def _noted(request: Request, **more: Any) -> NetworkRequest:
    return NetworkRequest(host=request.host, port=request.port, method=request.method, **more)


def _connected(port: int, where: Places) -> socket.socket:
    """To the first of these places that answers. Raises OSError."""
    last: OSError | None = None
    for family, address in where:
        server = socket.socket(family, socket.SOCK_STREAM)
        try:
            server.settimeout(_CONNECT_S)
            server.connect((address, port))
            return server
        except OSError as error:
            last = error
            server.close()
    raise last or OSError("it has no address")


def _refusal(status: int, why: str) -> bytes:
    """`why` stands where programs show it."""
    line = "".join(letter for letter in why if " " <= letter <= "~")[:200]
    body = f"{line}\n".encode()
    head = f"HTTP/1.1 {status} {line}\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
