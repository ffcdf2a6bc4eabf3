"""What the person can do about a script that misses a file of theirs, and no model can."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from greenloop.records import ScriptJob, TestRun

_NO_SUCH_FILE = re.compile(r"No such file or directory: '([^']+)'")


def module_beside(original: str, module: str) -> str:
    """The option that lays a module of the person's beside the script; '' where there is none."""
    folder = Path(original).parent
    for name in (f"{module}.py", module):
        if (folder / name).exists():
            near = folder == Path.cwd()
            return f"--input {name}" if near else f"--input {folder / name}={name}"
    return ""


def file_elsewhere(run: TestRun, job: ScriptJob) -> str:
    """Of a file that was not found: that an input of its name lies in another place."""
    for failure in run.failures:
        found = _NO_SUCH_FILE.search(failure.message)
        if found is None or failure.exception != "FileNotFoundError" or found[1].startswith("/"):
            continue
        for item in job.inputs:
            if item.path != found[1] and PurePosixPath(item.path).name == Path(found[1]).name:
                return (
                    f"the script looks for {found[1]}, and the input lies at {item.path}: "
                    f"--input PATH={found[1]} would lay it there"
                )
    return ""
