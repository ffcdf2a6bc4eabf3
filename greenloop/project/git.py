"""Calls of git that run no hook, filter or file system monitor of the project."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from greenloop.encodings import decode_source
from greenloop.errors import OutputError

_TIMEOUT_S = 120
_OFF = ("core.hooksPath=/dev/null", "core.fsmonitor=", "commit.gpgSign=false", "gc.auto=0")
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
_CONFIGURATION = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")  # safe.directory
_FILTER_OFF = ("clean=", "smudge=", "process=", "required=false")


def run_git(
    folder: Path, *arguments: str, options: Sequence[str] = _OFF, errors: str = "replace"
) -> str:
    """Return git's output, decoded as Python source. Raises OutputError with git's message."""
    command = ["git", *(word for item in options for word in ("-c", item)), *arguments]
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=_build_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OutputError(f"git {arguments[0]}: {error}") from None
    if ended.returncode:
        lines = ended.stderr.decode("utf-8", "replace").strip().split("\n")
        raise OutputError(f"git {arguments[0]}: {lines[-1]}")
    return decode_source(ended.stdout, errors)


def list_files(root: Path) -> frozenset[str] | None:
    """Return the relative paths that git tracks or would add, or None if there are none."""
    try:
        listed = run_git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except OutputError:
        return None
    if ".gitmodules" in listed:  # only files that git tracks can be listed with submodules
        inner = ("--cached", "--recurse-submodules")
        listed += "\0" + run_git(root, "ls-files", "-z", *inner)
    return frozenset(filter(None, listed.split("\0"))) or None


def find_commit(folder: Path) -> str:
    """Return the commit of a folder's working tree, or '' if there is no commit or no git."""
    if shutil.which("git") is None:
        return ""
    try:
        return run_git(folder, "rev-parse", "--verify", "-q", "HEAD").strip()
    except OutputError:
        return ""


def is_ancestor(folder: Path, commit: str) -> bool:
    """Return whether `commit` is HEAD or an ancestor of HEAD."""
    try:
        run_git(folder, "merge-base", "--is-ancestor", commit or "-", "HEAD")
    except OutputError:
        return False
    return True


def is_dirty(folder: Path) -> bool:
    """Return whether a folder has changed or untracked files. Raises OutputError."""
    status = ("status", "--porcelain", "--untracked-files=all", "--", ".")
    return bool(run_git(folder, *status, options=list_safe_options(folder)))


def has_branch(folder: Path, name: str) -> bool:
    """Return whether a branch exists. Raises OutputError for an invalid name."""
    run_git(folder, "check-ref-format", "--branch", name)
    return bool(run_git(folder, "branch", "--list", name).strip())


def list_safe_options(folder: Path) -> tuple[str, ...]:
    """Return git options that switch off hooks and all filters the project configures."""
    try:
        found = run_git(folder, "config", "--name-only", "--get-regexp", r"^filter\.").split()
    except OutputError:  # none is configured
        found = []
    names = dict.fromkeys(item.rpartition(".")[0] for item in found)
    return (*_OFF, *(f"{name}.{part}" for name in names for part in _FILTER_OFF))


def _build_environment() -> dict[str, str]:
    """Return the environment without variables that redirect git, such as GIT_DIR in a hook."""
    return {
        **{
            name: value
            for name, value in os.environ.items()
            if name.startswith((*_IDENTITY, *_CONFIGURATION)) or not name.startswith("GIT_")
        },
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
