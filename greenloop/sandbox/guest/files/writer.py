"""The files of a run, written where it will find them."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Any

_READ_ONLY_MODE = 0o444


def stdin_path(temporary: str) -> str:
    """Where a script finds what is to come over its standard input; gone when it has begun."""
    return f"{temporary}/.stdin"


def write_job_files(job: dict[str, Any]) -> None:
    """Writes a job's files, which are no part of it any more. Raises OSError."""
    for path, text in job.pop("files").items():
        with open(path, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    for path, data in job.pop("compiled").items():
        _write_new_file(f"{job['work']}/{path}", base64.b64decode(data))
    tree = {path: base64.b64decode(data) for path, data in job.pop("tree").items()}
    write_tree(tree, read_only=bool(job["read_only"]))


def write_tree(tree: Mapping[str, bytes], *, read_only: bool) -> None:
    """Writes files by their paths, with the folders that they lie in. Raises OSError."""
    for path, data in tree.items():
        _write_new_file(path, data)
        if read_only:
            os.chmod(path, _READ_ONLY_MODE)


def _write_new_file(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)
