"""Which engine has a batch's runs made, and where they are kept. Ray is imported where asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.batch.executor import Engine, LocalEngine
from greenloop.batch.results import RESULTS, with_results
from greenloop.errors import InputError
from greenloop.workflow.storage.request import digest


@dataclass(frozen=True)
class Place:
    """Where a batch is kept: by default, or where `named`: a folder, or a bucket's address."""

    default: Path
    named: str | None = None

    @property
    def url(self) -> str | None:
        """The bucket's address, None for a folder."""
        return self.named.rstrip("/") if self.named and "://" in self.named else None

    @property
    def folder(self) -> Path:
        """On this machine; what is in a bucket is there too."""
        if self.url is not None:
            return self.default.with_name(digest(self.url)[:16])
        return Path(self.named) if self.named else self.default

    def fetch_results(self) -> None:
        """How entries ended that another machine saw to.

        The bucket takes them back at once: where it does not, nothing is paid for yet.

        Raises:
            StoreError, OutputError: the bucket, or this machine, does not take them.
        """
        if self.url is None:
            return
        from greenloop.distributed.object_store import Bucket

        bucket = Bucket(self.url)
        with_results(self.folder, bucket.read(RESULTS) or b"")
        bucket.put("", self.folder, RESULTS)


def engine_of(name: str, address: str | None, place: Place) -> Engine:
    """The engine by its name.

    Raises:
        InputError: its packages are missing, or the options do not fit together.
    """
    if name == "local":
        if address is not None or place.url is not None:
            what = "--address" if address is not None else f"--run-dir {place.url}"
            raise InputError(f"{what} is for --engine ray")
        return LocalEngine()
    from greenloop.distributed.object_store import Bucket
    from greenloop.distributed.ray_cluster import address_of, require_ray
    from greenloop.distributed.ray_executor import RayEngine

    require_ray()
    bucket = Bucket(place.url) if place.url is not None else None
    return RayEngine(address_of(address), place.folder.absolute(), bucket)
