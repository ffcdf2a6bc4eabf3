"""Files of a run that the object store did not accept: the command stores them later.

Otherwise answers that were paid for would be lost with the worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.distributed.object_store import ObjectStore, list_run_files
from greenloop.files import writing
from greenloop.workflow.storage.run_dir import RunDirectory

_PENDING_MARKER = ".left"  # in the folder of a run that is newer than the object store


@dataclass(frozen=True)
class PendingUploads:
    """The files of a run's folder: relative names and contents."""

    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def from_folder(cls, folder: Path) -> PendingUploads:
        found = list_run_files(folder)
        return cls(
            tuple((item.relative_to(folder).as_posix(), item.read_bytes()) for item in found)
        )

    def write_to(self, folder: Path) -> None:
        """Write the files to a folder. Raises OutputError."""
        with writing(folder):
            for name, data in self.files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            (folder / _PENDING_MARKER).touch()


def upload_pending(object_store: ObjectStore, folder: Path) -> None:
    """Store the pending files of a batch's `folder`.

    If the stored log of a run has answers that the pending one lacks, the stored one is kept.

    Raises:
        StoreError: the object store cannot be written.
    """
    for marker in sorted(folder.glob(f"runs/*/{_PENDING_MARKER}")):
        run = RunDirectory(marker.parent)
        name = f"runs/{run.path.name}"
        stored = object_store.read(f"{name}/{run.answers_file.name}") or b""
        pending = run.answers_file.read_bytes() if run.answers_file.exists() else b""
        if pending.startswith(stored):
            object_store.put(name, run.path)
        marker.unlink()
