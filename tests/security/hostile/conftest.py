"""Hostile programs in every sandbox of this machine, with a monitor of the host."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from greenloop.grading.observation.values import build, get_tag, list_items
from greenloop.records import TestRun
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from tests.integration.sandbox.conftest import KINDS, make_sandbox, skip_reason
from tests.security.hostile.host_monitor import Witness
from tests.support.programs import read_program

LIMITS = ResourceLimits(
    timeout_s=20,
    memory_bytes=192 << 20,
    total_bytes=128 << 20,
    output_bytes=1 << 20,
    result_bytes=1 << 20,
    file_bytes=8 << 20,
    disk_bytes=16 << 20,
    shared_bytes=4 << 20,
    inodes=512,
    open_files=64,
    processes=24,
)
Attack = Callable[[str], TestRun]
Limited = Callable[..., AbstractContextManager[None]]


@pytest.fixture(scope="session")
def witness() -> Iterator[Witness]:
    watching = Witness()
    yield watching
    watching.close()


@pytest.fixture(scope="session")
def touched() -> set[str]:
    """The sandboxes that ran a job since the last check."""
    return set()


def select_tested(*kinds: str) -> list[str]:
    """Return the tested ones of these sandboxes; where there is none, one that skips with the reason."""
    return [kind for kind in kinds if not skip_reason(kind)] or [kinds[-1]]


@pytest.fixture(scope="session", params=select_tested(*KINDS))
def box(request: pytest.FixtureRequest, witness: Witness, touched: set[str]) -> Iterator[Sandbox]:
    """Open each tested sandbox, with small limits."""
    if reason := skip_reason(request.param):
        pytest.skip(f"no {request.param} sandbox here: {reason}")
    with make_sandbox(request.param, LIMITS) as opened, pytest.MonkeyPatch.context() as patch:
        run = opened.run

        def run_and_note(job: Job) -> ProcessResult:
            touched.add(opened.info.backend)
            return run(job)

        patch.setattr(opened, "run", run_and_note)
        yield opened


@pytest.fixture(scope="session")
def spaces(box: Sandbox) -> bool:
    """Whether runs have namespaces; without them more system calls are refused."""
    return box.info.backend != "landlock"


@pytest.fixture(autouse=True)
def unnoticed(box: Sandbox, witness: Witness, touched: set[str]) -> Iterator[None]:
    """Check after each test that the host is unaffected and an ordinary run passes."""
    yield
    if touched:
        assert_ordinary(box)
        assert witness.list_changes() == []
        touched.clear()


def assert_ordinary(box: Sandbox) -> None:
    tests = "from solution import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    run = box.run_tests("def add(a, b): return a + b", tests)
    assert run.passed, run


@pytest.fixture
def attack(box: Sandbox) -> Attack:
    """Return a function that runs a module whose `f` is called by its only test."""

    def run(code: str) -> TestRun:
        return box.run_tests(code, "from solution import f\n\n\ndef test_f():\n    f()\n")

    return run


@pytest.fixture
def limited(box: Sandbox) -> Limited:
    """Return a context manager with other limits: `with limited(timeout_s=1): …`."""

    @contextmanager
    def other(**changes: Any) -> Iterator[None]:
        box.limits = replace(LIMITS, **changes)
        try:
            yield
        finally:
            box.limits = LIMITS

    return other


PRELUDE = read_program(__file__, "PRELUDE")


def answer_calls(box: Sandbox, code: str, calls: list[str]) -> dict[str, Any]:
    """Return the result of each call: a plain value, or `raised …`. One run for all."""
    answers = box.evaluate_calls(PRELUDE + code, "probes", calls)
    assert not answers.error, answers.error
    return {call: _plain(event) for call, event in zip(calls, answers.events, strict=True)}


def is_refused(answer: Any) -> bool:
    """Return whether a call was refused, or raised an error of permission."""
    return str(answer).startswith(("refused", "raised PermissionError", "raised BlockingIOError"))


def _plain(event: dict[str, Any] | None) -> Any:
    if event is None:
        return "no answer"
    if "value" not in event:
        _, bases, text, *_ = event["error"]
        return f"raised {bases[0][1]}: {text}"
    return _build(event["value"])


def _build(value: Any) -> Any:
    if get_tag(value) == "dict":
        return {_build(key): _build(item) for _, key, item in value[1:]}
    if get_tag(value) in ("list", "tuple", "set", "frozenset"):
        return list(map(_build, list_items(value)))
    return build(value)
