"""What a sandbox is given to do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from greenloop.dependencies import Installed
from greenloop.sandbox.guest.pytest_plugin.plugins import named_in
from greenloop.sandbox.network.allowlist import Rule


@dataclass(frozen=True)
class Work:
    """One run: its files (name, text), what is to be done with them, what it may use besides the
    standard library, and the key of its reports.

    `tree` are files by path, in folders of their own: scripts and projects have such. What comes
    over standard input, and what is `wanted` of the files that it makes, is for scripts alone.
    """

    kind: Literal["tests", "calls", "compile", "mutants", "patches", "split", "script", "project"]
    files: tuple[tuple[str, str], ...]
    job: dict[str, Any]
    hash_seed: int = 0
    packages: Installed = field(default_factory=Installed)
    timeout_s: float | None = None  # where the run has another limit than the sandbox's own
    code: tuple[tuple[str, str], ...] = ()  # of a split run: the files of the other process
    tree: tuple[tuple[str, bytes], ...] = ()
    stdin: bytes = b""
    wanted: dict[str, Any] | None = None
    hosts: tuple[Rule, ...] = ()  # that it may reach
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        if self.kind not in ("script", "project") and (self.tree or self.stdin or self.wanted):
            raise ValueError(f"no tree of files is for {self.kind}")
        names = [name for name, _ in (*self.files, *self.code)]
        for name in names:
            if "/" in name or "\0" in name or name in ("", ".", ".."):
                raise ValueError(f"not a plain file name: {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"two files of the name {name!r}")

    @property
    def plugins(self) -> tuple[str, ...]:
        """The packages whose plugins for pytest one of the files names."""
        return named_in(text.encode("utf-8", "replace") for _, text in self.files)
