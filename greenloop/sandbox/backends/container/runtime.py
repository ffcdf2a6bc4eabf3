"""podman and docker: which of them works here, and has the image."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenloop.errors import SandboxError

_COMMAND_SECONDS = 30.0
_RUNTIMES = ("crun", "runc")
_VERSION_FORMATS = {
    "podman": "{{.Version.Version}} {{.Host.OCIRuntime.Name}}",
    "docker": "{{.ServerVersion}}",
}


@dataclass(frozen=True)
class ContainerEngine:
    """A container engine that answers and has the image.

    `options` come before its command; `runtime` is what it starts containers with, where it says so.
    """

    name: str
    program: str
    version: str
    image: str
    runtime: str = ""
    options: tuple[str, ...] = ()

    def command(self, *words: str) -> list[str]:
        return [self.program, *self.options, *words]


def default_image() -> str:
    """Python's own image, of the version that runs here: so tests give there what they give here."""
    return f"docker.io/library/python:3.{sys.version_info.minor}-slim"


def find_engine(requested_name: str, image: str) -> ContainerEngine:
    """The engine of that name, or the first that will do (`auto`).

    Raises:
        SandboxError: none will; says of each why, in one line.
    """
    names = ("podman", "docker") if requested_name == "auto" else (requested_name,)
    reasons: list[str] = []
    for name in names:
        try:
            return _check_engine(name, image)
        except SandboxError as error:
            reasons.append(str(error))
    missing = [reason for reason in reasons if reason.endswith("is not installed")]
    raise SandboxError(
        "; ".join(missing if len(missing) == len(names) else _exclude(reasons, missing))
    )


def _exclude(reasons: list[str], excluded: list[str]) -> list[str]:
    return [reason for reason in reasons if reason not in excluded]


def _check_engine(name: str, image: str) -> ContainerEngine:
    program = shutil.which(name)
    if program is None:
        raise SandboxError(f"{name} is not installed")
    done = _run_command([program, "info", "--format", _VERSION_FORMATS[name]])
    version, _, runtime = done.stdout.strip().partition(" ") if done else ("", "", "")
    if done is None or done.returncode or not version:
        raise SandboxError(f"{name} does not answer: {last_line(done.stderr if done else '')}")
    done = _run_command([program, "image", "inspect", "--format", "{{.Id}}", image])
    if done is None or done.returncode:
        raise SandboxError(f"{name} has no image {image}: get it with `{name} pull {image}`")
    return ContainerEngine(name, program, version, image, runtime)


def list_runtime_alternatives(engine: ContainerEngine) -> list[ContainerEngine]:
    """The engine as it is set up; then, for podman, with the runtimes that it could have besides."""
    if engine.name != "podman":
        return [engine]
    others = [item for item in _RUNTIMES if item != engine.runtime and shutil.which(item)]
    return [engine, *(replace(engine, runtime=i, options=("--runtime", i)) for i in others)]


def is_runtime_error(error_text: str) -> bool:
    """Whether another runtime may do what this one has refused."""
    return "runtime" in error_text.lower() or "crun" in error_text or "runc" in error_text


def suggest_remedy(engine: ContainerEngine, error_text: str) -> str:
    """What can be done about what an engine said when no container came to life; '' if unknown."""
    told = error_text.lower()
    if "python3" in told and ("not found" in told or "no such file" in told):
        return f"{engine.name}: the image {engine.image} has no python3"
    if "its python is" in told:
        return f"{engine.name}: the image {engine.image}: {error_text.partition(': ')[2]}"
    if (
        "subuid" in told
        or "setup user" in told
        or "not mapped" in told
        or "insufficient uids" in told
    ):
        return (
            f"{engine.name} without root needs user ids of its own: as root, `usermod --add-subuids "
            "100000-165535 --add-subgids 100000-165535 NAME`, then `podman system migrate`"
        )
    return ""


def last_line(text: str) -> str:
    """The last line that is not empty, cut."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines[-1][:400] if lines else "it said nothing"


def _run_command(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """None where it does not come to an end."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMMAND_SECONDS,
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
