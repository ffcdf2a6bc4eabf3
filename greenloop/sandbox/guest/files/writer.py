"""Files of a job, written before it starts."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Any

_READ_ONLY_MODE = 0o444


def stdin_path(temporary: str) -> str:
    """Return the path of a script's standard input, which is deleted when it starts."""
    return f"{temporary}/.stdin"


def write_job_files(job: dict[str, Any]) -> None:
    """Write a job's files and remove them from the job. Raises OSError."""
    for path, text in job.pop("files").items():
        with open(path, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    tree = {path: base64.b64decode(data) for path, data in job.pop("tree").items()}
    write_tree(tree, read_only=bool(job["read_only"]))


def write_tree(tree: Mapping[str, bytes], *, read_only: bool) -> None:
    """Write files by their paths, with parent folders. Raises OSError."""
    for path, data in tree.items():
        _write_new_file(path, data)
        if read_only:
            os.chmod(path, _READ_ONLY_MODE)


def _write_new_file(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)
