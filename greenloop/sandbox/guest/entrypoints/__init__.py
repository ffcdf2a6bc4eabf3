"""Entry points of a sandbox process: the module that serves each kind of job.

Each module has `main(job, result_fd)`, which returns the exit status of the process. A new kind of
job is a module here, a line in this table and a function of the host's that makes its `Job`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

EntryPoint = Callable[[dict[str, Any], int], int]

_ENTRYPOINTS = {
    "tests": "entrypoints.pytest_run",
    "calls": "entrypoints.calls",
    "mutants": "entrypoints.mutants",
    "patches": "entrypoints.patches",
    "script": "entrypoints.script",
    "project": "entrypoints.project",
    "code": "remote_module.code_side",
}
# Kinds of which a process keeps the standard streams as they were: pytest would replace them.
BARE_KINDS = ("calls", "code")


def load_entrypoint(kind: str) -> EntryPoint:
    """Imports the `main` function for a kind of job.

    Raises:
        KeyError: no entry point serves this kind.
    """
    guest = __name__.rpartition(".")[0]
    main: EntryPoint = importlib.import_module(f"{guest}.{_ENTRYPOINTS[kind]}").main
    return main


def load_all_entrypoints() -> dict[str, EntryPoint]:
    """Imports every entry point: after `hide_ours` nothing of the guest can be imported."""
    return {kind: load_entrypoint(kind) for kind in _ENTRYPOINTS}
