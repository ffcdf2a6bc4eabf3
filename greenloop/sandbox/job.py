"""What a sandbox is given to do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox.guest.pytest_plugin.plugins import find_plugin_packages
from greenloop.sandbox.network.allowlist import HostRule


@dataclass(frozen=True)
class Job:
    """One run: its files (name, text), what is to be done with them, what it may use besides the
    standard library, and the key of its reports.

    `tree` are files by path, in folders of their own: scripts and projects have such. What comes
    over standard input, and what is `wanted` of the files that it makes, is for scripts alone.
    """

    kind: Literal["tests", "calls", "compile", "mutants", "patches", "split", "script", "project"]
    files: tuple[tuple[str, str], ...]
    payload: dict[str, Any]
    hash_seed: int = 0
    packages: InstalledPackages = field(default_factory=InstalledPackages)
    timeout_s: float | None = None  # where the run has another limit than the sandbox's own
    code_files: tuple[tuple[str, str], ...] = ()  # of a split run: the files of the other process
    tree: tuple[tuple[str, bytes], ...] = ()
    stdin: bytes = b""
    artifact_request: dict[str, Any] | None = None
    allowed_hosts: tuple[HostRule, ...] = ()  # that it may reach
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        if self.kind not in ("script", "project") and (
            self.tree or self.stdin or self.artifact_request
        ):
            raise ValueError(f"no tree of files is for {self.kind}")
        names = [name for name, _ in (*self.files, *self.code_files)]
        for name in names:
            if "/" in name or "\0" in name or name in ("", ".", ".."):
                raise ValueError(f"not a plain file name: {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"two files of the name {name!r}")

    @property
    def plugins(self) -> tuple[str, ...]:
        """The packages whose plugins for pytest one of the files names."""
        return find_plugin_packages(text.encode("utf-8", "replace") for _, text in self.files)
