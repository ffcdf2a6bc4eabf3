"""The sandboxes that mutants are tried in: one with a wall, one without."""

import sys
from collections.abc import Iterator

import pytest

from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.namespaces import create_native_backend
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.warm.backend import WarmSandbox

LIMITS = ResourceLimits(timeout_s=60, memory_bytes=512 << 20, total_bytes=512 << 20)


@pytest.fixture(scope="session", params=["process", *(["warm"] if sys.platform == "linux" else [])])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    made = ProcessSandbox(LIMITS) if request.param == "process" else None
    with made or WarmSandbox(create_native_backend(), LIMITS) as opened:
        yield opened
