"""Entry point of the judge: compares observed rows with the tests, in a process without the code."""

from __future__ import annotations

import sys
from typing import Any

from ..protocol.framing import Channel
from ..scenarios.judge import Judge


def main(job: dict[str, Any], result_fd: int) -> int:
    """Judge the rows of each of the job's texts and report each outcome."""
    channel = Channel(result_fd, job.pop("key"))
    sys.path.insert(0, job["work"])
    for text, rows in job.pop("judges"):
        Judge(channel.send, rows).run(text)
        channel.send("end_text")
    channel.send("end", exit_status=0)
    return 0
