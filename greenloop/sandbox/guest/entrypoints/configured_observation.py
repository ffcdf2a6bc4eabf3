"""Entry point of observations in a process that pytest has configured, as it does before tests.

Plug-ins and conftest files set up what a project needs, such as the settings of Django.
"""

from typing import Any

from _pytest.config import _prepareconfig

from . import observation
from .suite import prepare_session


def main(job: dict[str, Any], result_fd: int) -> int:
    """Configure pytest for the job's `args`, then run the job's programs."""

    def configure() -> None:
        arguments, added = prepare_session(job)
        _prepareconfig([*arguments, "--capture=no", *job["args"]], added)._do_configure()

    return observation.main(job, result_fd, configure)
