"""Entry point of patches: which edits of a module make which of its failing tests pass?

As for mutants, the process that writes to the channel runs no untrusted code.
"""

from __future__ import annotations

from typing import Any

from ..protocol.framing import Channel
from ..trials.context import TrialContext
from ..trials.patches.session import PatchSession
from ..trials.workspaces import become_subreaper
from .mutants import MutantTrials
from .mutants import main as run_job


class _PatchTrials(MutantTrials):
    """Trials of a job with `tests`: their baseline, or [] to measure it."""

    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        super().__init__(job, channel)
        self._job = job

    def run(self) -> bool:
        become_subreaper()
        return self._run_session_process() is not None

    def _try_all(self, context: TrialContext) -> None:
        session = PatchSession(context, self._module)
        if session.collect():
            if self._job["tests"]:
                session.try_all(self._job, self._jobs)
            else:
                session.measure(self._job["most_s"])


def main(job: dict[str, Any], result_fd: int) -> int:
    """Try the job's patches, or measure the baseline; 0 unless the trials broke off."""
    return run_job(job, result_fd, _PatchTrials)
