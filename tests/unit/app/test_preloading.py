"""What a command loads while a job runs in the sandbox."""

from __future__ import annotations

import threading

from greenloop.app.preloading import load_beside_jobs
from greenloop.events import Event, Notice, SandboxJobStarted


def test_each_function_is_called_once_beside_the_first_job_of_its_kind() -> None:
    emitted: list[Event] = []
    called: list[str] = []
    is_called = threading.Event()

    def load_first() -> None:
        called.append(threading.current_thread().name)
        is_called.set()

    def fail() -> None:
        raise ImportError("left to the code that needs it")

    sink = load_beside_jobs(emitted.append, {"tests": load_first, "mutants": fail})
    events = [Notice("x"), *(SandboxJobStarted(str(n), "tests") for n in range(2))]
    for event in (*events, SandboxJobStarted("2", "mutants")):
        sink(event)
    assert is_called.wait(10)
    assert emitted == [*events, SandboxJobStarted("2", "mutants")]
    assert len(called) == 1
    assert called[0] != threading.current_thread().name
