"""Executors of batches, by name, and the place where a batch keeps its results."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from greenloop.batch.executor import Executor, LocalExecutor
from greenloop.batch.results import RESULTS_FILE, merge_results
from greenloop.errors import InputError
from greenloop.plugins import list_plugins, load_plugin
from greenloop.workflow.storage.request import digest

LOCAL = "local"
_RAY = "ray"
# `create_executor(address, folder, url)`: `--address`, the batch's folder on this machine, and the
# address of an object store that holds the batch's files, if there is one.
ExecutorFactory = Callable[[str | None, Path, str | None], Executor]


@dataclass(frozen=True)
class BatchLocation:
    """Where a batch is kept: the default folder, or an explicit folder or object store."""

    default: Path
    explicit: str | None = None

    @property
    def url(self) -> str | None:
        """The address of the object store; None for a folder."""
        return self.explicit.rstrip("/") if self.explicit and "://" in self.explicit else None

    @property
    def folder(self) -> Path:
        """The folder on this machine; it mirrors an object store."""
        if self.url is not None:
            return self.default.with_name(digest(self.url)[:16])
        return Path(self.explicit) if self.explicit else self.default

    def fetch_results(self) -> None:
        """Merge the results that other machines stored, and store the merged ones.

        Storing them at once shows whether the store can be written before a model is paid.
        Raises StoreError or OutputError: the store, or this machine, cannot be written.
        """
        if self.url is None:
            return
        from greenloop.distributed.object_store import ObjectStore

        store = ObjectStore(self.url)
        merge_results(self.folder, store.read(RESULTS_FILE) or b"")
        store.put("", self.folder, RESULTS_FILE)


def create_executor(name: str, address: str | None, location: BatchLocation) -> Executor:
    """Return the executor of a name: local, ray, or one that an installed package registers.

    Raises:
        InputError: there is none, its packages are missing, or the options contradict each other.
        SettingsError: the package's executor cannot be loaded.
    """
    if name == LOCAL:
        if address is not None or location.url is not None:
            what = "--address" if address is not None else f"--run-dir {location.url}"
            raise InputError(f"{what} is for --engine ray")
        return LocalExecutor()
    factory: ExecutorFactory | None = load_plugin("greenloop.executors", name)
    if factory is None and name == _RAY:  # from a checkout that is not installed
        factory = import_module("greenloop.distributed.ray_executor").create_executor
    if factory is None:
        known = sorted({LOCAL, _RAY, *list_plugins("greenloop.executors")})
        raise InputError(f"--engine {name}: no such executor; installed: {', '.join(known)}")
    return factory(address, location.folder.absolute(), location.url)
