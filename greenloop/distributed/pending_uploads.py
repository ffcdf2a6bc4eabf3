"""What a bucket did not take of a run: the command keeps it, and puts it there when it can.

Else answers that were paid for would be lost with the worker that has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.distributed.object_store import Bucket, kept_files
from greenloop.errors import OutputError
from greenloop.workflow.storage.run_dir import RunDirectory

_MARK = ".left"  # in a run's folder that holds what its bucket does not


@dataclass(frozen=True)
class Left:
    """The files of a run's folder, by their names in it."""

    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def of(cls, folder: Path) -> Left:
        found = kept_files(folder)
        return cls(
            tuple((item.relative_to(folder).as_posix(), item.read_bytes()) for item in found)
        )

    def keep(self, folder: Path) -> None:
        """On the command's machine. Raises OutputError."""
        try:
            for name, data in self.files:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            (folder / _MARK).touch()
        except OSError as error:
            raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from None


def send_left(bucket: Bucket, folder: Path) -> None:
    """Puts what earlier calls have kept below a batch's `folder` into its bucket.

    Where a run went on elsewhere in the meantime, the bucket knows more, and nothing is put there.

    Raises:
        StoreError: the bucket does not take it.
    """
    for mark in sorted(folder.glob(f"runs/*/{_MARK}")):
        run = RunDirectory(mark.parent)
        name = f"runs/{run.path.name}"
        theirs = bucket.read(f"{name}/{run.answers.name}") or b""
        ours = run.answers.read_bytes() if run.answers.exists() else b""
        if ours.startswith(theirs):
            bucket.put(name, run.path)
        mark.unlink()
