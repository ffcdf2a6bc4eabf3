"""Entry point of scenarios: observes the module in a process that has no tests."""

from __future__ import annotations

from typing import Any

from ..isolation.program import enter_program
from ..protocol.framing import Channel
from ..scenarios.runner import Runner
from ..scenarios.state.surroundings import Surroundings
from ..scripts.hidden_modules import hide_modules
from ..scripts.module_cleanup import hide_preloaded_modules


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's scenarios and report what they observe."""
    channel = Channel(result_fd, job.pop("key"))
    hide_preloaded_modules(job["work"])
    enter_program(job["work"], job.get("import_root", ""))
    hide_modules()
    module, texts = job["module"], job.pop("scenarios")
    surroundings = Surroundings(module, "\n".join(text for text, _ in texts))
    Runner(channel.send, module, surroundings).run_all(texts)
    channel.send("end", exit_status=0)
    return 0
