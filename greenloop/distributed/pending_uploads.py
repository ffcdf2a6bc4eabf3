"""What a bucket did not take of a run: the command keeps it, and puts it there when it can.

Else answers that were paid for would be lost with the worker that has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.distributed.object_store import ObjectStore, list_run_files
from greenloop.errors import OutputError
from greenloop.workflow.storage.run_dir import RunDirectory

_PENDING_MARKER = ".left"  # in a run's folder that holds what its bucket does not


@dataclass(frozen=True)
class PendingUploads:
    """The files of a run's folder, by their names in it."""

    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def from_folder(cls, folder: Path) -> PendingUploads:
        found = list_run_files(folder)
        return cls(
            tuple((item.relative_to(folder).as_posix(), item.read_bytes()) for item in found)
        )

    def write_to(self, folder: Path) -> None:
        """On the command's machine. Raises OutputError."""
        try:
            for name, data in self.files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            (folder / _PENDING_MARKER).touch()
        except OSError as error:
            raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from None


def upload_pending(object_store: ObjectStore, folder: Path) -> None:
    """Puts what earlier calls have kept below a batch's `folder` into its bucket.

    Where a run went on elsewhere in the meantime, the bucket knows more, and nothing is put there.

    Raises:
        StoreError: the bucket does not take it.
    """
    for mark in sorted(folder.glob(f"runs/*/{_PENDING_MARKER}")):
        run = RunDirectory(mark.parent)
        name = f"runs/{run.path.name}"
        theirs = object_store.read(f"{name}/{run.answers_file.name}") or b""
        ours = run.answers_file.read_bytes() if run.answers_file.exists() else b""
        if ours.startswith(theirs):
            object_store.put(name, run.path)
        mark.unlink()
