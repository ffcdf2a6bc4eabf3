"""Installation by a pip process, wheels only, into a folder; and the manifest of what it installed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.errors import PackagesError
from greenloop.records.base import Record

_MAX_INSTALL_SECONDS, _POLL_SECONDS = 1800.0, 0.1
# The user's pip settings on where and whether to install, which are overridden.
_OVERRIDDEN_SETTINGS = (
    "TARGET USER PREFIX ROOT DRY_RUN REQUIRE_VIRTUALENV PYTHON REQUIREMENT EDITABLE NO_DEPS"
)
_UNREACHABLE = re.compile(
    r"connection broken|Failed to establish|Name or service not known|Temporary failure in name|"
    r"Network is unreachable|Max retries exceeded|ProxyError|ConnectTimeout|Read timed out",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(r"No matching distribution found for (\S+)")


def pip_install(
    requirements: Sequence[str],
    constraints: Sequence[str],
    staging: Path,
    site: Path,
    stop: threading.Event,
) -> Path:
    """Install into the new folder `site`, and return the path of pip's report in `staging`.

    pip and its child processes are killed when `stop` is set or an exception is raised.

    Raises:
        PackagesError: pip is missing, failed, or was stopped.
    """
    report, output = staging / "report.json", staging / "pip.log"
    constraints_file = staging / "constraints.txt"
    constraints_file.write_text("\n".join(constraints) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--target", str(site), "--compile"]
    command += ["--only-binary", ":all:", "--report", str(report), "--constraint"]
    command += [str(constraints_file)]
    command += ["--retries", "2", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    names = ", ".join(requirements)
    try:
        with output.open("wb") as log:
            process = subprocess.Popen(
                [*command, "--", *requirements],
                cwd=staging,
                env=_build_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = _wait_for_exit(process, stop)
    except OSError as error:
        raise PackagesError(f"{names} cannot be installed: {error}") from None
    if status != 0:
        printed = output.read_text("utf-8", "replace")
        why = _explain_failure(printed, status)
        raise PackagesError(f"{names} cannot be installed: {why}", _find_absent(printed))
    return report


def _wait_for_exit(process: subprocess.Popen[bytes], stop: threading.Event) -> int:
    until = time.monotonic() + _MAX_INSTALL_SECONDS
    try:
        while (status := process.poll()) is None:
            if stop.wait(_POLL_SECONDS):
                raise PackagesError("the installation of packages was interrupted")
            if time.monotonic() > until:
                raise PackagesError(
                    f"packages: pip did not finish within {_MAX_INSTALL_SECONDS:.0f} s"
                )
        return status
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _build_environment() -> dict[str, str]:
    """Return the user's environment (index, proxy, certificates) without overridden settings."""
    overridden = {f"PIP_{name}" for name in _OVERRIDDEN_SETTINGS.split()}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name not in overridden
    }
    return {**kept, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "LC_ALL": "C.UTF-8"}


def _explain_failure(log: str, status: int) -> str:
    """Return the cause of a failure and its remedy in one line."""
    if "No module named pip" in log:
        return f"pip is missing: run {sys.executable} -m ensurepip"
    if _UNREACHABLE.search(log):
        return (
            "no package registry can be reached, and the cache does not have them: connect to the "
            "network once, or set PIP_FIND_LINKS to a folder of wheels"
        )
    if absent := _find_absent(log):
        version = ".".join(map(str, sys.version_info[:2]))
        return f"there is no wheel of {absent} for Python {version} on this machine"
    lines = [line for line in log.splitlines() if line.startswith("ERROR:")] or log.splitlines()
    return (lines[-1] if lines else f"pip ended with status {status}").removeprefix("ERROR: ")[:300]


def _find_absent(log: str) -> str:
    """Return the requirement that the index has no wheel of, '' where that is not the cause."""
    found = None if _UNREACHABLE.search(log) else _NOT_FOUND.search(log)
    return found[1] if found else ""


class Wheel(Record):
    """An installed package; `sha256` is the digest of its wheel."""

    name: str
    version: str
    sha256: str


class Manifest(Record, extra="ignore"):
    """Manifest of an installed set of packages."""

    wheels: tuple[Wheel, ...]


def build_manifest(report: Path) -> Manifest:
    """Return the manifest of what pip has installed, from its report."""
    found = json.loads(report.read_text("utf-8"))["install"]
    wheels = [
        Wheel(
            name=canonicalize_name(item["metadata"]["name"]),
            version=item["metadata"]["version"],
            sha256=item["download_info"]
            .get("archive_info", {})
            .get("hashes", {})
            .get("sha256", ""),
        )
        for item in found
    ]
    return Manifest(wheels=tuple(sorted(wheels, key=lambda item: item.name)))
