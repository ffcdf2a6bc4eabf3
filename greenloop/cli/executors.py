"""Which engine has a batch's runs made, and where they are kept. Ray is imported where asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.batch.executor import Executor, LocalExecutor
from greenloop.batch.results import RESULTS_FILE, merge_results
from greenloop.errors import InputError
from greenloop.workflow.storage.request import digest


@dataclass(frozen=True)
class BatchLocation:
    """Where a batch is kept: by default, or where `named`: a folder, or a bucket's address."""

    default: Path
    explicit: str | None = None

    @property
    def url(self) -> str | None:
        """The bucket's address, None for a folder."""
        return self.explicit.rstrip("/") if self.explicit and "://" in self.explicit else None

    @property
    def folder(self) -> Path:
        """On this machine; what is in a bucket is there too."""
        if self.url is not None:
            return self.default.with_name(digest(self.url)[:16])
        return Path(self.explicit) if self.explicit else self.default

    def fetch_results(self) -> None:
        """How entries ended that another machine saw to.

        The bucket takes them back at once: where it does not, nothing is paid for yet.

        Raises:
            StoreError, OutputError: the bucket, or this machine, does not take them.
        """
        if self.url is None:
            return
        from greenloop.distributed.object_store import ObjectStore

        bucket = ObjectStore(self.url)
        merge_results(self.folder, bucket.read(RESULTS_FILE) or b"")
        bucket.put("", self.folder, RESULTS_FILE)


def create_executor(name: str, address: str | None, location: BatchLocation) -> Executor:
    """The engine by its name.

    Raises:
        InputError: its packages are missing, or the options do not fit together.
    """
    if name == "local":
        if address is not None or location.url is not None:
            what = "--address" if address is not None else f"--run-dir {location.url}"
            raise InputError(f"{what} is for --engine ray")
        return LocalExecutor()
    from greenloop.distributed.object_store import ObjectStore
    from greenloop.distributed.ray_cluster import require_ray, resolve_address
    from greenloop.distributed.ray_executor import RayExecutor

    require_ray()
    bucket = ObjectStore(location.url) if location.url is not None else None
    return RayExecutor(resolve_address(address), location.folder.absolute(), bucket)
