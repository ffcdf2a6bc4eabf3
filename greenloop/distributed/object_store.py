"""Object stores that hold a batch's results: any address of fsspec (`s3://…`, `gs://…`, `file://…`)."""

import asyncio
import importlib
import posixpath
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from greenloop.errors import StoreError
from greenloop.files import writing
from greenloop.workflow.storage.run_dir import RunDirectory

_EXCLUDED_NAMES = ("lock",)  # valid on one machine only; names with a dot are partial files
# For one object; without it, packages wait for an unresponsive server for minutes.
_OPERATION_TIMEOUT_SECONDS = 20.0
_RETRY_PAUSE_SECONDS = 2.0
_PENDING_MARKER = ".left"  # in the folder of a run that is newer than the object store
P = ParamSpec("P")
T = TypeVar("T")


async def retry_in_thread(
    seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a blocking function in a thread; repeat it for some seconds while the store fails.

    Raises StoreError: the last attempt failed too.
    """
    retrying = AsyncRetrying(
        stop=stop_after_delay(seconds),
        wait=wait_fixed(_RETRY_PAUSE_SECONDS),
        retry=retry_if_exception_type(StoreError),
        reraise=True,
    )
    result: T = await retrying(asyncio.to_thread, function, *args, **kwargs)
    return result


@dataclass(frozen=True)
class ObjectStore:
    """Files below `url`, each written atomically.

    The methods block and try once; `retry_in_thread` repeats them for `retry_seconds`.
    """

    url: str
    retry_seconds: float = 30.0

    def fetch(self, name: str, folder: Path) -> None:
        """Copy all files below `name` into `folder`, which is created if needed.

        Raises StoreError: they cannot be read.
        """
        with self._translate_errors("read"):
            files, root = self._resolve(name)
            files.invalidate_cache()  # another node may have written since
            for found in _call_with_timeout(files, "find", root):
                path = folder / posixpath.relpath(found, root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_call_with_timeout(files, "cat_file", found))

    def read(self, name: str) -> bytes | None:
        """Return one file's content; None if it does not exist. Raises StoreError."""
        with self._translate_errors("read"):
            files, place = self._resolve(name)
            files.invalidate_cache()
            try:
                data: bytes = _call_with_timeout(files, "cat_file", place)
            except FileNotFoundError:
                return None
            return data

    def put(self, name: str, folder: Path, *only: str) -> None:
        """Store the files of `folder` below `name`, or `only` some of them, but no partial files.

        Raises StoreError: they cannot be written.
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
        """Raise StoreError for any exception: the packages of fsspec have no common base class."""
        try:
            yield
        except Exception as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
            is_denied = isinstance(error, PermissionError) or "Credentials" in type(error).__name__
            if is_denied and not self.url.startswith("file:"):
                text += " (keys come from the environment, or from the files of its package)"
            raise StoreError(f"{self.url} cannot be {action}: {text}") from error


def list_run_files(folder: Path) -> list[Path]:
    """Return the files of a run's `folder` that are stored."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        path for path in found if path.name not in _EXCLUDED_NAMES and not path.name.startswith(".")
    ]


def _call_with_timeout(files: Any, method: str, *arguments: Any) -> Any:
    """Call a method of a file system, with a timeout if it is a remote one."""
    if not getattr(files, "async_impl", False):
        return getattr(files, method)(*arguments)
    asyn: Any = importlib.import_module("fsspec.asyn")
    try:
        work = getattr(files, f"_{method}")
        return asyn.sync(files.loop, work, *arguments, timeout=_OPERATION_TIMEOUT_SECONDS)
    except asyn.FSTimeoutError:
        raise TimeoutError(f"no answer within {_OPERATION_TIMEOUT_SECONDS:.0f} s") from None


def _put_atomically(files: Any, place: str, data: bytes) -> None:
    """Write an object; a local file is written under another name and then renamed."""
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    if "file" not in protocols:
        _call_with_timeout(files, "pipe_file", place, data)
        return
    files.makedirs(posixpath.dirname(place), exist_ok=True)
    partial = posixpath.join(posixpath.dirname(place), f".{posixpath.basename(place)}.half")
    files.pipe_file(partial, data)
    files.mv(partial, place)


@dataclass(frozen=True)
class PendingUploads:
    """Files of a run that the object store did not accept: relative names and contents.

    The command stores them later; otherwise answers that were paid for would be lost.
    """

    files: tuple[tuple[str, bytes], ...]

    @classmethod
    def from_folder(cls, folder: Path) -> "PendingUploads":
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
    Raises StoreError: the object store cannot be written.
    """
    for marker in sorted(folder.glob(f"runs/*/{_PENDING_MARKER}")):
        run = RunDirectory(marker.parent)
        name = f"runs/{run.path.name}"
        stored = object_store.read(f"{name}/{run.answers_file.name}") or b""
        pending = run.answers_file.read_bytes() if run.answers_file.exists() else b""
        if pending.startswith(stored):
            object_store.put(name, run.path)
        marker.unlink()
