"""The sandbox of the suite."""

from collections.abc import Iterator

import pytest

from greenloop.sandbox import Sandbox, open_sandbox
from tests.security.forgery.grading import settings


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """The strongest of this machine."""
    with open_sandbox(settings()) as opened:
        yield opened
