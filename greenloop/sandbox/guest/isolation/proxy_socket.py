"""The only way out of a run's network: a socket that listens in it, and is answered outside of it."""

from __future__ import annotations

import socket

_LISTEN_BACKLOG = 16


def send_proxy_listener(host: socket.socket) -> dict[str, str]:
    """Makes the socket and gives it away; the variables by which programs find a proxy.

    Called in the run's supervisor: a socket belongs to the network that it was made in, whoever
    accepts its connections.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(_LISTEN_BACKLOG)
        socket.send_fds(host, [b"l"], [listener.fileno()])
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    return dict.fromkeys(names, address)
