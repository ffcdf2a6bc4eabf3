"""Files of a job, written before it starts."""

import base64
import contextlib
import os
from typing import Any

_READ_ONLY_MODE = 0o444


def stdin_path(temporary: str) -> str:
    """Return the path of a script's standard input, which is deleted when it starts."""
    return f"{temporary}/.stdin"


def write_job_files(job: dict[str, Any]) -> None:
    """Write a job's files, with parent folders, and remove them from the job. Raises OSError.

    In the copy of a project they replace existing files; `removed` files are deleted first.
    """
    files: dict[str, str] = job.pop("files")
    if "removed" in job:
        for path in (*job.pop("removed"), *files):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path)
    for path, data in files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            file.write(base64.b64decode(data))
        if job["read_only"]:
            os.chmod(path, _READ_ONLY_MODE)
