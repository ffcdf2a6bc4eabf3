"""Counts of tests and mutants while a sandbox job runs."""

import os

from greenloop.events import Event, SandboxJobProgress
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.guest.protocol.output_buffers import OutputBuffers
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.views.jobs import InstrumentedSandbox
from greenloop.settings import Settings
from tests.support.programs import read_program

SLOW_TESTS = read_program(__file__, "SLOW_TESTS")


def test_a_run_tells_how_many_tests_are_done() -> None:
    events: list[Event] = []
    with open_sandbox(Settings()) as sandbox:
        run = InstrumentedSandbox(sandbox, events.append).run_tests(
            "def f(n):\n    return n\n", SLOW_TESTS
        )
    assert run.passed
    counts = [item.done for item in events if isinstance(item, SandboxJobProgress)]
    assert counts == sorted(set(counts))
    assert counts
    assert counts[-1] <= 4


def test_reports_are_counted_once_as_they_arrive() -> None:
    reader, writer = os.pipe()
    buffers = OutputBuffers(ResourceLimits().to_guest())
    for piece, count in (
        (b'k {"event": "test", "id": "a"}\nk {"event": "failure"}\nk {"event": "te', 1),
        (b'st"}\nk {"event": "mutant", "mutant": 1}\n', 3),
        (b'k {"event": "started", "mutants": [2]}\n', 3),
    ):
        os.write(writer, piece)
        buffers.read(reader, "result")
        assert buffers.count_items() == count
    buffers.close()  # no view is held
    os.close(reader)
    os.close(writer)
