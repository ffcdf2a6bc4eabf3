"""Entry point of scenarios: observes the module in a process that has no tests."""

from __future__ import annotations

import faulthandler
import os
import sys
import types
from typing import Any

from ..protocol.framing import Channel
from ..scenarios.runner import Runner
from ..scripts.hidden_modules import hide_modules
from ..scripts.module_cleanup import hide_preloaded_modules


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's scenarios and report what they observe."""
    channel = Channel(result_fd, job.pop("key"))
    hide_preloaded_modules(job["work"])
    faulthandler.disable()  # as in an ordinary program
    sys.path.insert(0, os.path.join(job["work"], job.get("import_root", "")))
    sys.argv[:] = ["-c"]
    sys.orig_argv[:] = [sys.executable, "-c", ""]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=False)  # type: ignore[union-attr]
    sys.modules["__main__"] = types.ModuleType("__main__")
    hide_modules()
    Runner(channel.send, job["module"]).run_all(job.pop("scenarios"))
    channel.send("end", exit_status=0)
    return 0
