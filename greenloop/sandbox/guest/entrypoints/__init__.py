"""Entry points of a sandbox process: one module for each kind of job.

Each module has `main(job, result_fd)`, which returns the exit status of the process. A new kind of
job is a module here, a line in the table and a function of the host that creates its `Job`.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any

EntryPoint = Callable[[dict[str, Any], int], int]

_ENTRYPOINTS = {
    "tests": "entrypoints.pytest_run",
    "observation": "entrypoints.observation",
    "configured-observation": "entrypoints.configured_observation",
    "mutants": "entrypoints.trials",
    "patches": "entrypoints.trials",
    "script": "entrypoints.script",
    "suite": "entrypoints.suite",
}
# Kinds that run in a process that has not loaded pytest.
KINDS_WITHOUT_PYTEST = ("observation",)


def load_entrypoint(kind: str) -> EntryPoint:
    """Import the `main` function for a kind of job. Raises KeyError if there is none."""
    guest = __name__.rpartition(".")[0]
    main: EntryPoint = importlib.import_module(f"{guest}.{_ENTRYPOINTS[kind]}").main
    return main


def load_entrypoints(kinds: Iterable[str] = tuple(_ENTRYPOINTS)) -> dict[str, EntryPoint]:
    """Import entry points, by default all: none can be imported after `unload_guest_modules`."""
    return {kind: load_entrypoint(kind) for kind in kinds}
