"""Entry point of the judge: compares observed rows with the tests, in a process without the code."""

from __future__ import annotations

import sys
from typing import Any

from ..protocol.framing import Channel
from ..scenarios.judge import Judge


def main(job: dict[str, Any], result_fd: int) -> int:
    """Judge the job's rows and report each outcome."""
    channel = Channel(result_fd, job.pop("key"))
    sys.path.insert(0, job["work"])
    Judge(channel.send, job.pop("rows")).run(job.pop("judge"))
    channel.send("end", exit_status=0)
    return 0
