"""Entry point of scenarios: observes the module in a process that has no tests."""

from __future__ import annotations

from typing import Any

from ..isolation.program import enter_program
from ..protocol.framing import Channel
from ..scenarios.runner import Runner, load_async_runner
from ..scenarios.state.surroundings import Surroundings
from ..scripts.hidden_modules import hide_modules
from ..scripts.module_cleanup import hide_preloaded_modules


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's scenarios and report what they observe."""
    channel = Channel(result_fd, job.pop("key"))
    module, texts = job["module"], job.pop("scenarios")
    run_async = load_async_runner(texts)
    hide_preloaded_modules(job["work"])
    enter_program(job["work"], job.get("import_root", ""))
    hide_modules()
    surroundings = Surroundings(module, "\n".join(text for text, _ in texts))
    Runner(channel.send, module, run_async, surroundings).run_all(texts)
    channel.send("end", exit_status=0)
    return 0
