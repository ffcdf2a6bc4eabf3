"""Executors of batches, by name."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from greenloop.batch.executor import Executor, LocalExecutor
from greenloop.errors import InputError
from greenloop.plugins import list_plugins, load_plugin

LOCAL = "local"
_RAY = "ray"
# `create_executor(address, folder)`, called with `--address` and the batch's folder.
ExecutorFactory = Callable[[str | None, Path], Executor]


def create_executor(name: str, address: str | None, folder: Path) -> Executor:
    """Return the named executor: local, ray, or one that an installed package registers.

    Raises:
        InputError: there is no such executor, its packages are missing, or the options conflict.
        SettingsError: the package's executor cannot be loaded.
    """
    if name == LOCAL:
        if address is not None:
            raise InputError("--address needs --engine ray")
        return LocalExecutor()
    factory: ExecutorFactory | None = load_plugin("greenloop.executors", name)
    if factory is None and name == _RAY:  # from a checkout that is not installed
        factory = import_module("greenloop.distributed.ray_executor").create_executor
    if factory is None:
        known = sorted({LOCAL, _RAY, *list_plugins("greenloop.executors")})
        raise InputError(f"--engine {name}: no such executor; installed: {', '.join(known)}")
    return factory(address, folder)
