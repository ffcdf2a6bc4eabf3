"""Executors of batches, by name."""

from collections.abc import Callable
from pathlib import Path

from greenloop.batch.executor import Executor, LocalExecutor
from greenloop.errors import InputError
from greenloop.plugins import list_plugins, load_plugin

LOCAL = "local"
# `create_executor(address, folder)`: `--address`, and the batch's folder.
ExecutorFactory = Callable[[str | None, Path], Executor]


def create_executor(name: str, address: str | None, folder: Path) -> Executor:
    """Return the executor of a name: local, or one that an installed package registers.

    Raises:
        InputError: there is none, or the options contradict each other.
        SettingsError: the package's executor cannot be loaded.
    """
    if name == LOCAL:
        if address is not None:
            raise InputError("--address is for another engine than local, such as --engine ray")
        return LocalExecutor()
    factory: ExecutorFactory | None = load_plugin("greenloop.executors", name)
    if factory is None:
        known = sorted({LOCAL, *list_plugins("greenloop.executors")})
        raise InputError(f"--engine {name}: no such executor; installed: {', '.join(known)}")
    return factory(address, folder)
