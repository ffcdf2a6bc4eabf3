"""Entry point of observations: runs programs on the module in a process without tests."""

from collections.abc import Callable
from typing import Any

from ..isolation.program import enter_program
from ..observation.runner import Place, Runner, load_async_runner
from ..observation.surroundings import Surroundings
from ..protocol.framing import Channel
from ..scripts.loaded_modules import hide_test_tools, unload_shadowed_modules


def main(job: dict[str, Any], result_fd: int, configure: Callable[[], None] | None = None) -> int:
    """Run the job's programs and report their observations; call `configure` before."""
    channel = Channel(result_fd, job.pop("key"))
    module, text = job["module"], job.pop("programs")
    run_async = load_async_runner(text)
    unload_shadowed_modules(job["work"])
    if configure:
        configure()
    hide_test_tools()
    enter_program(job["work"], job.get("import_roots", ()))
    place = Place(folder=job.get("folder", ""))
    surroundings = Surroundings(module, text, place.folder)
    Runner(channel.send, module, run_async, surroundings, place).run(text)
    channel.send("end", exit_status=0)
    return 0
