"""Local OTLP receiver that keeps what tracers send."""

import gzip
import json
import threading
import time
from dataclasses import dataclass

from tests.support.local_server import LocalHandler, LocalServer


@dataclass(frozen=True)
class Sent:
    """One request: its path, its headers with lower-case names, and its uncompressed body."""

    path: str
    headers: dict[str, str]
    body: bytes


class Collector(LocalServer):
    """Receiver that keeps all requests; `silent`: it never answers."""

    def __init__(self, *, silent: bool = False) -> None:
        self.sent: list[Sent] = []
        self.over = threading.Event()
        outer = self

        class Handler(LocalHandler):
            def do_POST(self) -> None:
                if silent:
                    outer.over.wait(60)
                body = self._body()
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.sent.append(Sent(self.path, headers, body))
                self._answer({})

            def _body(self) -> bytes:
                if self.headers.get("transfer-encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("content-length", 0)))
                parts = []
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def _answer(self, answer: dict[str, object]) -> None:
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        super().__init__(Handler)

    @property
    def text(self) -> str:
        """All bodies, joined by line ends."""
        return "\n".join(item.body.decode("utf-8", "replace") for item in self.sent)

    def has(self, word: str) -> bool:
        """Wait up to 30 s for a word in the bodies; return whether it was sent."""
        since = time.monotonic()
        while word not in self.text and time.monotonic() - since < 30:
            time.sleep(0.05)
        return word in self.text

    def __exit__(self, *_: object) -> None:
        self.over.set()
        super().__exit__()
