"""A batch's results in a bucket: any address that fsspec knows (`s3://…`, `gs://…`, `file://…`)."""

from __future__ import annotations

import importlib
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.errors import StoreError

_EXCLUDED_NAMES = ("lock",)  # of this machine; names that begin with a dot are half-written files
_OPERATION_TIMEOUT_SECONDS = (
    20.0  # for one object; a package left to itself tries a silent server for minutes
)


@dataclass(frozen=True)
class ObjectStore:
    """Files below `url`, each put there whole. Its methods block, and try once; whoever can wait
    asks one that refuses again for `patience_s`."""

    url: str
    retry_seconds: float = 30.0

    def fetch(self, name: str, folder: Path) -> None:
        """All files below `name`, into `folder`, which may not be there yet.

        Raises:
            StoreError: they cannot be read.
        """
        with self._translate_errors("read"):
            files, root = self._resolve(name)
            files.invalidate_cache()  # another node has written in the meantime
            for found in _call_with_timeout(files, "find", root):
                path = folder / posixpath.relpath(found, root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_call_with_timeout(files, "cat_file", found))

    def read(self, name: str) -> bytes | None:
        """One file; None where there is none. Raises StoreError."""
        with self._translate_errors("read"):
            files, place = self._resolve(name)
            files.invalidate_cache()
            try:
                data: bytes = _call_with_timeout(files, "cat_file", place)
            except FileNotFoundError:
                return None
            return data

    def put(self, name: str, folder: Path, *only: str) -> None:
        """The files of `folder` below `name`, or `only` some of them; not what is half-written.

        Raises:
            StoreError: they cannot be written.
        """
        with self._translate_errors("written"):
            files, root = self._resolve(name)
            for path in [folder / item for item in only] if only else list_run_files(folder):
                if path.is_file():
                    place = posixpath.join(root, path.relative_to(folder).as_posix())
                    _put_atomically(files, place, path.read_bytes())

    def _resolve(self, name: str) -> tuple[Any, str]:
        core: Any = importlib.import_module("fsspec.core")
        files, root = core.url_to_fs(self.url)
        return files, posixpath.join(root.rstrip("/"), name) if name else root.rstrip("/")

    @contextmanager
    def _translate_errors(self, action: str) -> Iterator[None]:
        """What the packages of buckets raise is of no common kind."""
        try:
            yield
        except Exception as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            raise StoreError(
                f"{self.url} cannot be {action}: {said}{self._credentials_hint(error)}"
            ) from error

    def _credentials_hint(self, error: Exception) -> str:
        """What its package does not say, where it is the keys."""
        denied = isinstance(error, PermissionError) or "Credentials" in type(error).__name__
        if not denied or self.url.startswith("file:"):
            return ""
        return " (keys come from the environment, or from the files of its package)"


def list_run_files(folder: Path) -> list[Path]:
    """The files of a run's `folder` that belong into a bucket."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        path for path in found if path.name not in _EXCLUDED_NAMES and not path.name.startswith(".")
    ]


def _call_with_timeout(files: Any, method: str, *arguments: Any) -> Any:
    """What `method` of a file system says, within bounds where it lies beyond a network."""
    if not getattr(files, "async_impl", False):
        return getattr(files, method)(*arguments)
    asyn: Any = importlib.import_module("fsspec.asyn")
    try:
        work = getattr(files, f"_{method}")
        return asyn.sync(files.loop, work, *arguments, timeout=_OPERATION_TIMEOUT_SECONDS)
    except asyn.FSTimeoutError:
        raise TimeoutError(f"no answer within {_OPERATION_TIMEOUT_SECONDS:.0f} s") from None


def _put_atomically(files: Any, place: str, data: bytes) -> None:
    """An object is there whole or not at all; a file has to be moved to its place."""
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    if "file" not in protocols:
        _call_with_timeout(files, "pipe_file", place, data)
        return
    files.makedirs(posixpath.dirname(place), exist_ok=True)
    half = posixpath.join(posixpath.dirname(place), f".{posixpath.basename(place)}.half")
    files.pipe_file(half, data)
    files.mv(half, place)
