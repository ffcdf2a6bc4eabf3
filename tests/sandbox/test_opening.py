"""From settings to a sandbox: what is asked for, or nothing."""

from __future__ import annotations

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings


@pytest.mark.parametrize("kind", ["auto", "process"])
def test_the_process_says_that_it_is_weak(kind: str) -> None:
    with open_sandbox(Settings.load(sandbox=kind)) as box:
        assert box.info.backend == "process"
        assert box.info.isolation.startswith("weak")


def test_a_kind_that_cannot_be_had_is_refused_not_replaced() -> None:
    with pytest.raises(SandboxError, match=r"bubblewrap.*auto, process"):
        open_sandbox(Settings.load(sandbox="bubblewrap"))


def test_the_limits_are_those_of_the_settings() -> None:
    with open_sandbox(Settings.load(sandbox="process", timeout_s=0.5)) as box:
        run = box.run_tests("while True: pass", "from solution import f\ndef test_a(): pass")
    assert run.ending == "timeout"
    assert run.duration_s < 10
