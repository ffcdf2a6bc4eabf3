"""A headless Chromium driven over its debugging pipe, without a driver or a package."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_WAIT_S = 60.0


def chromium() -> str | None:
    """Return the path of the browser, or None if there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@dataclass
class Seen:
    """What a page did: the addresses that it requested and what it wrote to its console."""

    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)


class Page:
    """A browser tab. Sizes are in CSS pixels."""

    def __init__(self, pipe: "_Pipe", session: str) -> None:
        self._pipe, self._session = pipe, session
        self.seen = pipe.seen
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and return its result."""
        return self._pipe.call(method, values, self._session)

    def look(self, width: int, height: int = 900, *, dark: bool = False, media: str = "") -> None:
        """Set the viewport and the media features of the page."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def open(self, path: Path) -> None:
        """Load a file and wait until it is loaded."""
        self.seen.requests.clear()
        self.seen.console.clear()
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + _WAIT_S
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < deadline, "the page did not load"
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """Evaluate JavaScript and return its value; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Return a PNG of the whole page, or of the viewport."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


class _Pipe:
    """The pipe to the browser: JSON messages, each ended by a null byte."""

    def __init__(self, write_to: int, read_from: int) -> None:
        self._write_to, self._read_from = write_to, read_from
        self._number, self._rest = 0, b""
        self.seen = Seen()

    def call(self, method: str, values: dict[str, Any], session: str | None) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if session:
            message["sessionId"] = session
        sent = json.dumps(message).encode() + b"\0"
        while sent:
            sent = sent[os.write(self._write_to, sent) :]
        while True:
            heard = self._heard()
            if heard.get("id") == self._number:
                assert "error" not in heard, heard
                answer: dict[str, Any] = heard["result"]
                return answer
            self._note(heard)

    def _heard(self) -> dict[str, Any]:
        deadline = time.monotonic() + _WAIT_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read_from], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            more = os.read(self._read_from, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(text)
        return heard

    def _note(self, heard: dict[str, Any]) -> None:
        method, values = heard.get("method"), heard.get("params", {})
        if method == "Network.requestWillBeSent":
            self.seen.requests.append(values["request"]["url"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.seen.console.append(json.dumps(values)[:500])


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """Start a browser with one empty tab; it is ended with its child processes."""
    program = chromium()
    assert program is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        # The browser reads commands from descriptor 3 and writes replies to 4.
        script = f'exec 3<&{to_read} 4>&{from_write}; exec "$@"'
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield _first_tab(_Pipe(to_write, from_read))
        finally:
            os.close(to_write)
            os.close(from_read)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


def _first_tab(pipe: _Pipe) -> Page:
    target = pipe.call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
    attach = {"targetId": target, "flatten": True}
    return Page(pipe, pipe.call("Target.attachToTarget", attach, None)["sessionId"])
