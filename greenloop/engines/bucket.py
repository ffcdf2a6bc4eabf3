"""A batch's results in a bucket: any address that fsspec knows (`s3://…`, `gs://…`, `file://…`)."""

from __future__ import annotations

import importlib
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.errors import InputError, OutputError

_NOT_KEPT = ("lock",)  # of this machine; names that begin with a dot are half-written files


@dataclass(frozen=True)
class Bucket:
    """Files below `url`, each put there whole. Its methods block."""

    url: str

    def fetch(self, name: str, folder: Path) -> None:
        """All files below `name`, into `folder`, which may not be there yet.

        Raises:
            InputError: they cannot be read.
        """
        with self._told(InputError, "read"):
            files, root = self._opened(name)
            files.invalidate_cache()  # another node has written in the meantime
            for found in files.find(root) if files.exists(root) else ():
                path = folder / posixpath.relpath(found, root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files.cat_file(found))

    def read(self, name: str) -> bytes:
        """One file; b"" where there is none. Raises InputError."""
        with self._told(InputError, "read"):
            files, root = self._opened(name)
            files.invalidate_cache()
            data: bytes = files.cat_file(root) if files.exists(root) else b""
            return data

    def put(self, name: str, folder: Path, *only: str) -> None:
        """The files of `folder` below `name`, or `only` some of them; not what is half-written.

        Raises:
            OutputError: they cannot be written.
        """
        with self._told(OutputError, "written"):
            files, root = self._opened(name)
            paths = [folder / item for item in only] if only else sorted(folder.rglob("*"))
            for path in paths:
                kept = path.name not in _NOT_KEPT and not path.name.startswith(".")
                if kept and path.is_file():
                    place = posixpath.join(root, path.relative_to(folder).as_posix())
                    _put_whole(files, place, path.read_bytes())

    def _opened(self, name: str) -> tuple[Any, str]:
        core: Any = importlib.import_module("fsspec.core")
        files, root = core.url_to_fs(self.url)
        return files, posixpath.join(root.rstrip("/"), name) if name else root.rstrip("/")

    @contextmanager
    def _told(self, kind: type[InputError], done: str) -> Iterator[None]:
        """What the packages of buckets raise is of no common kind."""
        try:
            yield
        except Exception as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            raise kind(f"{self.url} cannot be {done}: {said}") from error


def _put_whole(files: Any, place: str, data: bytes) -> None:
    """An object is there whole or not at all; a file has to be moved to its place."""
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    if "file" not in protocols:
        files.pipe_file(place, data)
        return
    files.makedirs(posixpath.dirname(place), exist_ok=True)
    half = posixpath.join(posixpath.dirname(place), f".{posixpath.basename(place)}.half")
    files.pipe_file(half, data)
    files.mv(half, place)
