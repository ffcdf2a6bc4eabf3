"""Tries changes of a module that its tests are red on: which make which tests pass?

As with mutants, the process that alone can write to the channel runs no foreign code; what is said
comes from a second one (`patched`) and is a claim.
"""

from __future__ import annotations

from typing import Any

from ..trials.fork_pool import ForkPool
from ..trials.mutants.session import SendEvent
from ..trials.patches.session import PatchSession
from ..trials.workspaces import become_subreaper
from .mutants import MutantTrials
from .mutants import main as run_job


class _PatchTrials(MutantTrials):
    """A job has besides `tests`: what is known of them, or [], which asks for it."""

    def __init__(self, job: dict[str, Any], channel: Any) -> None:
        super().__init__(job, channel)
        self._job = job

    def run(self) -> bool:
        become_subreaper()
        return self._run_session_process() is not None

    def _try_all(self, fork_pool: ForkPool, send_event: SendEvent) -> None:
        suite = (self._session, self._original, self._workspaces)
        patched = PatchSession(*suite, fork_pool, send_event, self._module)
        if patched.collect():
            if self._job["tests"]:
                patched.try_all(self._job, self._jobs)
            else:
                patched.measure(self._job["most_s"])


def main(job: dict[str, Any], handle: int) -> int:
    """Tries the job's patches, or tells what the tests reach; 0 where it came to its end."""
    return run_job(job, handle, _PatchTrials)
