"""Sandboxes that are shared by the tests of grading."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from greenloop.app.check import run_check, start_check
from greenloop.events import ignore_event
from greenloop.grading import Plan
from greenloop.records import Report
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.limits import ResourceLimits
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.workflow.report_builder import build_report


@pytest.fixture(scope="session")
def box() -> Iterator[ProcessSandbox]:
    limits = ResourceLimits(
        timeout_s=20, memory_bytes=512 * 1024 * 1024, file_bytes=6 * 1024 * 1024
    )
    with ProcessSandbox(limits) as opened:
        yield opened


@pytest.fixture(scope="session")
def warm() -> Iterator[Sandbox]:
    """The strongest sandbox of this machine, in which a repeat costs little."""
    with open_sandbox(Settings.model_construct(timeout_s=20, memory_mb=512)) as opened:
        yield opened


@pytest.fixture(scope="session")
def checked(warm: Sandbox) -> Callable[..., Report]:
    """The report on a module `m`, its tests, and a conftest."""

    def check(code: str, tests: str, conftest: str = "") -> Report:
        files = [TestFile("conftest.py", conftest)] if conftest else []
        files.append(TestFile("test_m.py", tests))
        found = start_check("m", code, tuple(files), Plan(mutants=0), warm.info)
        asyncio.run(run_check(warm, found, ignore_event))
        return build_report(found)

    return check
