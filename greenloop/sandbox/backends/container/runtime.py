"""Selection of a container engine, podman or docker, that works here and has the image."""

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
_USER_ID_ERRORS = ("subuid", "setup user", "not mapped", "insufficient uids")


@dataclass(frozen=True)
class ContainerEngine:
    """A container engine that works and has the image."""

    name: str
    program: str
    version: str
    image: str
    runtime: str = ""  # its OCI runtime, where it reports one
    options: tuple[str, ...] = ()  # options that precede the engine's command

    def command(self, *words: str) -> list[str]:
        return [self.program, *self.options, *words]


def default_image() -> str:
    """Return the official Python image of the running version, so that results are the same."""
    return f"docker.io/library/python:3.{sys.version_info.minor}-slim"


def find_engine(requested_name: str, image: str) -> ContainerEngine:
    """Return the engine of this name, or for `auto` the first that works.

    Raises SandboxError with the reason for each engine if none works.
    """
    names = ("podman", "docker") if requested_name == "auto" else (requested_name,)
    reasons: list[str] = []
    for name in names:
        try:
            return _check_engine(name, image)
        except SandboxError as error:
            reasons.append(str(error))
    installed = [reason for reason in reasons if not reason.endswith("is not installed")]
    raise SandboxError("; ".join(installed or reasons))


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
    """Return the engine as configured; then, for podman, with each other installed runtime."""
    if engine.name != "podman":
        return [engine]
    others = [item for item in _RUNTIMES if item != engine.runtime and shutil.which(item)]
    return [engine, *(replace(engine, runtime=i, options=("--runtime", i)) for i in others)]


def is_runtime_error(error_text: str) -> bool:
    """Return whether an error comes from the runtime, so that another one may work."""
    return "runtime" in error_text.lower() or "crun" in error_text or "runc" in error_text


def suggest_remedy(engine: ContainerEngine, error_text: str) -> str:
    """Return the remedy for an error of an engine that started no container; '' if unknown."""
    error = error_text.lower()
    if "python3" in error and ("not found" in error or "no such file" in error):
        return f"{engine.name}: the image {engine.image} has no python3"
    if "its python is" in error:
        return f"{engine.name}: the image {engine.image}: {error_text.partition(': ')[2]}"
    if any(sign in error for sign in _USER_ID_ERRORS):
        return (
            f"{engine.name} without root needs user ids of its own: as root, `usermod --add-subuids "
            "100000-165535 --add-subgids 100000-165535 NAME`, then `podman system migrate`"
        )
    return ""


def last_line(text: str) -> str:
    """Return the last line that is not empty, truncated."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines[-1][:400] if lines else "no error message"


def _run_command(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Run a command of an engine; return None if it cannot be run or does not end."""
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
