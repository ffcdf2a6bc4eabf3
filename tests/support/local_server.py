"""HTTP server of a test, on loopback."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import Self


class LocalHandler(BaseHTTPRequestHandler):
    """Handler that prints nothing, and to which clients may break off."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        return


class LocalServer:
    """Server on a free port of 127.0.0.1 while the `with` block runs."""

    def __init__(self, handler: type[LocalHandler], path: str = "") -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{path}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
