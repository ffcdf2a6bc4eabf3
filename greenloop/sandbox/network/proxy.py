"""HTTP proxy on the host for one run: forwards requests to the allowed hosts only.

It listens on a socket that was created in the network namespace of the run and sent to the host. So
no process of the run ever has access to the network of this machine.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from greenloop.records import NetworkRequest
from greenloop.sandbox.network.allowlist import (
    HostRule,
    SocketAddresses,
    explain_rejection,
    resolve_addresses,
)
from greenloop.sandbox.network.http_request import BadRequest, ProxyRequest, read_request
from greenloop.sandbox.network.relay import ProxyConnection, Relay

_MAX_REQUESTS, _MAX_CONNECTIONS = 500, 16
MAX_BYTES = 64 << 20  # of all requests together, both ways
_HEAD_SECONDS, _CONNECT_SECONDS, _POLL_SECONDS = 10.0, 10.0, 0.2
RequestRecorder = Callable[[NetworkRequest], None]


class Proxy:
    """A proxy with limits on the number of requests, their bytes and their time."""

    def __init__(
        self, rules: Sequence[HostRule], seconds: float, max_bytes: int = MAX_BYTES
    ) -> None:
        self._rules, self._deadline = tuple(rules), time.monotonic() + seconds
        self._relay = Relay(self._deadline, max_bytes)
        self._requests: dict[int, NetworkRequest] = {}  # by number
        self._lock, self._slots = threading.Lock(), threading.Semaphore(_MAX_CONNECTIONS)
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def requests(self) -> tuple[NetworkRequest, ...]:
        """The requests answered so far, in the order in which they were received."""
        with self._lock:
            return tuple(request for _, request in sorted(self._requests.items()))

    def serve(self, listener: socket.socket) -> None:
        """Answer the requests to a socket, until `close`."""
        self._start(self._accept, listener)

    def close(self) -> None:
        """End all connections; a name resolution in progress is not waited for."""
        self._is_over.set()
        self._relay.stop()
        for thread in self._threads:
            thread.join(2 * _POLL_SECONDS)

    def _start(self, target: Any, *arguments: Any) -> None:
        thread = threading.Thread(
            target=target, args=arguments, daemon=True, name="greenloop-proxy"
        )
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        listener.settimeout(_POLL_SECONDS)
        with listener:
            for number in range(_MAX_REQUESTS):
                client = self._accept_next(listener)
                if client is None:
                    return
                self._start(self._serve_client, client, partial(self._record, number))
        too_many = NetworkRequest(
            host="", port=0, method="", allowed=False, why="too many requests"
        )
        self._record(_MAX_REQUESTS, too_many)

    def _accept_next(self, listener: socket.socket) -> socket.socket | None:
        """Return the next client; None once the proxy is closed."""
        while not self._is_over.is_set() and time.monotonic() < self._deadline:
            if not self._slots.acquire(timeout=_POLL_SECONDS):
                continue
            with contextlib.suppress(OSError):
                return listener.accept()[0]
            self._slots.release()
        return None

    def _serve_client(self, client: socket.socket, record: RequestRecorder) -> None:
        try:
            with client:
                client.settimeout(_HEAD_SECONDS)
                self._handle_request(client, record)
        except OSError:
            pass  # the client has disconnected
        finally:
            self._slots.release()

    def _handle_request(self, client: socket.socket, record: RequestRecorder) -> None:
        try:
            request = read_request(client)
        except BadRequest as error:
            record(NetworkRequest(host="", port=0, method="", allowed=False, why=str(error)))
            client.sendall(_build_refusal(400, str(error)))
            return
        why, addresses = explain_rejection(self._rules, request.host, request.port), []
        try:
            addresses = [] if why else resolve_addresses(request.host, request.port)
        except PermissionError as error:
            why = str(error)
        except OSError as error:
            self._report_failure(client, request, error, record)
            return
        if why:
            record(_to_network_request(request, allowed=False, why=why))
            client.sendall(_build_refusal(403, why))
        else:
            self._forward(client, request, addresses, record)

    def _forward(
        self,
        client: socket.socket,
        request: ProxyRequest,
        addresses: SocketAddresses,
        record: RequestRecorder,
    ) -> None:
        try:
            server = _connect(request.port, addresses)
        except OSError as error:
            self._report_failure(client, request, error, record)
            return
        connection = ProxyConnection(client, server, request.remaining_bytes)
        try:
            with server:
                if not request.forwarded_head:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._relay.transfer(connection, request.forwarded_head + request.rest)
        finally:
            sizes = {"sent": connection.sent, "received": connection.received}
            record(_to_network_request(request, allowed=True, **sizes))

    def _report_failure(
        self, client: socket.socket, request: ProxyRequest, error: OSError, record: RequestRecorder
    ) -> None:
        """Report a host that is allowed and cannot be reached."""
        why = f"{request.host} cannot be reached: {error}"
        record(_to_network_request(request, allowed=True, why=why))
        client.sendall(_build_refusal(502, why))

    def _record(self, number: int, request: NetworkRequest) -> None:
        """Store a request by its number: a later one may be answered first."""
        with self._lock:
            self._requests[number] = request


def _to_network_request(request: ProxyRequest, **fields: Any) -> NetworkRequest:
    return NetworkRequest(host=request.host, port=request.port, method=request.method, **fields)


def _connect(port: int, addresses: SocketAddresses) -> socket.socket:
    """Connect to the first address that accepts. Raises OSError."""
    last: OSError | None = None
    for family, address in addresses:
        server = socket.socket(family, socket.SOCK_STREAM)
        try:
            server.settimeout(_CONNECT_SECONDS)
            server.connect((address, port))
            return server
        except OSError as error:
            last = error
            server.close()
    raise last or OSError("it has no address")


def _build_refusal(status: int, reason: str) -> bytes:
    """Return a response with the reason in its status line, where programs display it."""
    line = "".join(letter for letter in reason if " " <= letter <= "~")[:200]
    body = f"{line}\n".encode()
    head = f"HTTP/1.1 {status} {line}\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
